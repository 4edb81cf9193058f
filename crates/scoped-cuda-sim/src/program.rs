//! Kernels that run from their PTX.

use super::kernel::Launch;
use super::machine::{Machine, State};
use super::memory::{Allocation, Place};
use super::registry::Handle;
use super::work::Fault;
use scoped_cuda_ptx::{Class, Memory, Module, Options, Region, Shape, Storage, launch};
use scoped_cuda_sys::CUresult;
use std::collections::{BTreeMap, HashSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// The texts of a module. They are read when a kernel without a registered body is launched.
pub(super) struct Program {
    texts: Vec<String>,
    module: OnceLock<Result<Module, String>>,
}

impl Program {
    pub(super) fn new(texts: Vec<String>) -> Self {
        let module = OnceLock::new();
        Self { texts, module }
    }

    fn module(&self) -> Result<&Module, String> {
        let module = self.module.get_or_init(|| {
            let texts: Vec<_> = self.texts.iter().map(String::as_str).collect();
            Module::link(&texts).map_err(|(_, error)| format!("its PTX could not be read: {error}"))
        });
        module.as_ref().map_err(String::clone)
    }

    /// The addresses of the module's variables, in the order in which a launch takes them.
    ///
    /// # Errors
    /// Why the kernel cannot run from its PTX.
    pub(super) fn prepare(
        &self,
        kernel: &str,
        state: &State,
        handle: Handle,
    ) -> Result<Vec<u64>, String> {
        let module = self.module()?;
        let supported = module.check_supported(kernel);
        supported.map_err(|missing| format!("{missing}"))?;
        let variables = module.variables().iter().map(|variable| {
            let name = &variable.name;
            if !variable.relocations.is_empty() {
                return Err(format!(
                    "its module's variable `{name}` holds addresses, which is not simulated"
                ));
            }
            let found = state.variable_of(handle, name);
            let found =
                found.map_err(|_| format!("its module's variable `{name}` is not simulated"));
            found.map(|(address, _)| address)
        });
        variables.collect()
    }

    /// Runs a kernel.
    ///
    /// # Errors
    /// What it did wrong.
    pub(super) fn run(
        &self,
        of: &Launch,
        variables: &[u64],
        machine: &Machine,
    ) -> Result<(), Fault> {
        let module = self.module()?;
        let name = &of.entry.name;
        let kernel = module.kernel(name);
        let kernel = kernel.ok_or_else(|| format!("kernel `{name}` is not in its PTX"))?;
        let shape = Shape {
            grid: of.shape.grid,
            block: of.shape.block,
            cluster: of.shape.cluster.unwrap_or([1; 3]),
            dynamic_shared: of.shape.shared_bytes,
            is_cooperative: of.shape.is_cooperative,
        };
        let constants = module.variables().iter().zip(variables);
        let constants = constants.filter(|(variable, _)| variable.is_constant);
        let memory = Copies {
            machine,
            of,
            constants: constants.map(|(_, &address)| address).collect(),
            taken: Mutex::default(),
        };
        let options = Options {
            workers: thread::available_parallelism().map_or(1, NonZero::get),
            ..Options::default()
        };
        let result = launch(kernel, &shape, &of.values, variables, &memory, &options);
        // As far as a kernel has come, a device has written.
        memory.give_back()?;
        result.map_err(|finding| {
            let (code, text) = (code_of(&finding.class), finding.to_string());
            machine.lock().findings.push(*finding);
            Fault { code, text }
        })
    }
}

/// The code with which a device ends a kernel that does this. What a device does not notice has
/// that of a launch that failed.
fn code_of(class: &Class) -> CUresult {
    match class {
        Class::OutOfBounds | Class::UseAfterFree => CUresult::ILLEGAL_ADDRESS,
        Class::Misaligned => CUresult::MISALIGNED_ADDRESS,
        Class::Trap(text) if !text.is_empty() => CUresult::ASSERT,
        _ => CUresult::LAUNCH_FAILED,
    }
}

/// The memory that a launch touches: a copy of each allocation, made at the first access.
struct Copies<'a> {
    machine: &'a Machine,
    of: &'a Launch,
    /// Where the module's constants begin.
    constants: HashSet<u64>,
    taken: Mutex<BTreeMap<u64, Taken>>,
}

struct Taken {
    place: Place,
    before: Vec<u8>,
    words: Words,
    region: Arc<Region>,
}

/// The words of a copy, for the launch and for giving them back.
#[derive(Clone)]
struct Words(Arc<[AtomicU32]>);

impl Storage for Words {
    fn words(&self) -> &[AtomicU32] {
        &self.0
    }
}

impl Words {
    fn of(bytes: &[u8]) -> Self {
        let words = bytes.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        });
        Self(words.collect())
    }
}

impl Copies<'_> {
    /// Writes what the launch has changed. Bytes that it has not changed stay as they are: others
    /// may have written them meanwhile.
    fn give_back(self) -> Result<(), String> {
        let taken = self.taken.into_inner();
        for copy in taken.unwrap_or_else(PoisonError::into_inner).values() {
            let words = copy.words.words().iter();
            let after: Vec<u8> = words
                .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
                .collect();
            copy.place.write_changes(&copy.before, &after)?;
        }
        Ok(())
    }

    fn take(&self, address: u64) -> Option<Taken> {
        let state = self.machine.lock();
        let mut place = state.locate(address)?;
        let memory = &place.allocation;
        if !self.of.may_touch(&state, memory) {
            return None;
        }
        drop(state);
        place.offset = 0;
        let before = place.to_vec(place.remaining()).ok()?;
        let words = Words::of(&before);
        let Allocation {
            base,
            bytes,
            device,
            ..
        } = *place.allocation;
        let bytes = bytes as u64;
        let label = format!("{bytes} bytes on device {device}");
        let mut region = Region::new(base, bytes, Box::new(words.clone()), label);
        region.set_initialised(0..bytes);
        if self.constants.contains(&base) {
            region = region.constant();
        }
        let region = Arc::new(region);
        Some(Taken {
            place,
            before,
            words,
            region,
        })
    }
}

impl Memory for Copies<'_> {
    fn region(&self, address: u64) -> Option<Arc<Region>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, copy)) = taken.range(..=address).next_back() {
            if address - copy.region.base() < copy.region.bytes() {
                return Some(Arc::clone(&copy.region));
            }
        }
        let copy = self.take(address)?;
        let region = Arc::clone(&copy.region);
        taken.insert(region.base(), copy);
        Some(region)
    }

    fn nearest(&self, address: u64) -> Option<Arc<Region>> {
        let state = self.machine.lock();
        let before = state.allocations.range(..=address).next_back();
        let after = state.allocations.range(address..).next();
        let far = |memory: &Allocation| {
            let end = memory.base.saturating_add(memory.bytes as u64);
            let before = memory.base.saturating_sub(address);
            before.max(address.saturating_sub(end))
        };
        let both = before.into_iter().chain(after).map(|(_, memory)| memory);
        let memory = both.min_by_key(|memory| far(memory))?;
        let (bytes, device) = (memory.bytes as u64, memory.device);
        let mut label = format!("{bytes} bytes on device {device}");
        if !self.of.may_touch(&state, memory) {
            label += ", whose memory this device cannot access";
        }
        Some(Arc::new(Region::owned(memory.base, bytes, 0, label)))
    }
}
