//! Which driver an example runs on.

use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Result};

/// The machine's driver if it has a device, else the simulated machine: same program, no GPU.
pub(crate) fn driver(otherwise: Simulation) -> Result<Driver> {
    match Driver::load().and_then(|driver| Ok((driver, driver.device_count()?))) {
        Ok((_, 0)) => println!("there is a CUDA driver, but no device"),
        Ok((driver, _)) => {
            println!("using the real driver");
            return Ok(driver);
        }
        Err(error) => println!("{error}"),
    }
    println!("using the simulated driver: same program, no GPU");
    Driver::simulated(otherwise)
}
