//! Tells of PTX texts whether they are read, and which kernels are simulated.
//!
//!     cargo run -p scoped-cuda-ptx --example read -- kernels.ptx

use scoped_cuda_ptx::Module;

fn main() {
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let module = match Module::parse(&text) {
            Ok(module) => module,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        for kernel in module.kernels() {
            match module.check_supported(kernel.name()) {
                Ok(()) => println!("{path}: {} is simulated", kernel.name()),
                Err(missing) => println!("{path}: {}: {missing}", kernel.name()),
            }
        }
    }
}
