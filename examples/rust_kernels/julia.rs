//! What host and device have in common: this file is part of both programs.

#![allow(unreachable_pub)] // a library on the device

/// The points of a Julia set, and how long one is looked at. The kernel gets it by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Julia {
    pub real: f32,
    pub imaginary: f32,
    pub steps: u32,
}

impl Julia {
    /// After how many steps of `z = z * z + c` the point of a pixel has left the circle.
    pub fn steps_of(self, pixel: u32, width: u32, height: u32) -> u32 {
        // At least 1, so that nothing can panic: the device's program has no panic to call.
        let (width, height) = (width.max(1), height.max(1));
        let (column, row) = (pixel % width, pixel / width);
        let mut x = column as f32 / width as f32 * 4.0 - 2.0;
        let mut y = row as f32 / height as f32 * 4.0 - 2.0;
        let mut step = 0;
        while step < self.steps && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + self.real, 2.0 * x * y + self.imaginary);
            step += 1;
        }
        step
    }
}
