//! What is in this machine: every device, and how each reaches the memory of the others: `cargo run
//! --example devices`.
//!
//! Uses the real driver when the machine has one with a device, else a simulated machine of four
//! devices in two linked pairs.

mod common;

use scoped_cuda::sim::{Peers, Simulation};
use scoped_cuda::{Attribute, Device, Result};

fn main() -> Result<()> {
    // Devices 0 and 1 reach each other, so do 2 and 3, and device 0 reads from device 2.
    let links = vec![(0, 1), (1, 0), (2, 3), (3, 2), (0, 2)];
    let made_up = Simulation::default().devices(4).peers(Peers::Only(links));
    let driver = common::driver(made_up)?;
    let devices = driver.devices()?;
    println!("CUDA {}, devices: {}", driver.version(), devices.len());
    for &device in &devices {
        describe(device)?;
    }
    print_links(&devices)
}

fn describe(device: Device) -> Result<()> {
    let gibibytes = device.total_memory_bytes()? as f64 / f64::from(1 << 30);
    println!("\ndevice {}: {}", device.ordinal(), device.name()?);
    println!("  uuid                {}", device.uuid()?);
    println!("  PCI                 {}", device.pci_bus_id()?);
    println!("  compute capability  {}", device.compute_capability()?);
    println!("  memory              {gibibytes:.1} GiB");
    println!(
        "  multiprocessors     {}",
        device.attribute(Attribute::MultiprocessorCount)?
    );
    Ok(())
}

/// A row for each device that accesses, a column for each device whose memory is accessed. Links
/// are directed.
fn print_links(devices: &[Device]) -> Result<()> {
    if devices.len() < 2 {
        println!("\none device: it has no peers");
        return Ok(());
    }
    println!("\nthe row's device reaches the column's memory:");
    print!("{:>6}", "");
    for to in devices {
        print!("{:>20}", to.ordinal());
    }
    println!();
    for &from in devices {
        print!("{:>6}", from.ordinal());
        for &to in devices {
            print!("{:>20}", link(from, to)?);
        }
        println!();
    }
    println!(
        "\nrank: 0 is the best link of the machine. atomics: every atomic operation works over the link."
    );
    println!("staged: no direct access; a copy goes through host memory.");
    Ok(())
}

fn link(from: Device, to: Device) -> Result<String> {
    if from == to {
        return Ok("-".to_owned());
    }
    if !from.can_access(to)? {
        return Ok("staged".to_owned());
    }
    let rank = from.peer_performance_rank(to)?;
    let atomics = if from.peer_atomics(to)? {
        ", atomics"
    } else {
        ""
    };
    Ok(format!("rank {rank}{atomics}"))
}
