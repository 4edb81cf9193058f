//! What device memory holds.

use bytemuck::Pod;

/// Element types of device memory: plain data ([`bytemuck::Pod`]), for which every bit pattern is a
/// value. Implemented for all of it.
///
/// Bytes that come from a device are whatever a kernel stored, so a type with an owner behind it, a
/// reference, or bits that mean nothing (`bool`, most enums) cannot be made of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    label = "not plain data",
    note = "device memory holds plain data (`bytemuck::Pod`): numbers, arrays of them, and structs that derive `Pod`; not owners like `String`, references, `bool` or enums"
)]
pub trait Element: Pod {}

#[diagnostic::do_not_recommend]
impl<T: Pod> Element for T {}
