//! Modules, functions, and kernels as host functions.

use super::attributes::SHARED_BYTES_MAX;
use super::context::ContextRef;
use super::image::Loaded;
use super::machine::{Machine, Outcome, State};
use super::memory::{Allocation, Place};
use super::program::Program;
use super::ptx::{Entry, Parameter};
use super::registry::{Handle, Kind, callback};
use super::work::Fault;
use bytemuck::Pod;
use scoped_cuda_sys::CUresult;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

pub(super) type Body = Arc<dyn Fn(&mut KernelCall<'_>) + Send + Sync>;
pub(super) type Bodies = HashMap<String, Body>;

/// A loaded module.
pub(super) struct Module {
    pub(super) context: ContextRef,
    pub(super) entries: Vec<Arc<Entry>>,
    variables: HashMap<String, Arc<Allocation>>,
    pub(super) program: Arc<Program>,
    /// The functions that were asked for: one handle for each, however often.
    functions: HashMap<String, Handle>,
}

/// A kernel of a module.
pub(super) struct Function {
    pub(super) context: ContextRef,
    pub(super) module: Handle,
    pub(super) entry: Arc<Entry>,
    /// The most dynamic shared memory of a block, in bytes.
    pub(super) max_dynamic_shared: u32,
    /// Per cent, or -1.
    pub(super) carveout: i32,
    pub(super) allows_large_clusters: bool,
}

/// The shape of a launch, and what is special about it.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared_bytes: u32,
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) is_cooperative: bool,
}

/// What a kernel does.
pub(super) enum Code {
    /// A registered body.
    Body(Body),
    /// The PTX itself, with the addresses of the module's variables.
    Ptx(Arc<Program>, Vec<u64>),
}

/// A kernel on its way: everything is known when it is launched.
pub(super) struct Launch {
    pub(super) module: Handle,
    pub(super) entry: Arc<Entry>,
    pub(super) code: Code,
    pub(super) context: ContextRef,
    pub(super) device: usize,
    pub(super) shape: Shape,
    /// The parameters' bytes at their offsets.
    pub(super) values: Vec<u8>,
}

/// What a kernel's body sees of its launch.
///
/// Parameters are numbered as in the PTX entry. Whatever a real kernel must not do (a wrong
/// address, memory of a device without peer access) ends the body there and gives the machine a
/// fault.
///
/// ```
/// # use scoped_cuda::sim::KernelCall;
/// fn saxpy(call: &mut KernelCall<'_>) {
///     let (n, a) = (call.scalar::<u32>(0) as usize, call.scalar::<f32>(1));
///     let x = call.load_n::<f32>(2, n);
///     call.update::<f32>(3, |y| y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x));
/// }
/// ```
pub struct KernelCall<'a> {
    machine: &'a Machine,
    launch: &'a Launch,
}

/// How a body is left when it did what a kernel must not do.
struct Wrong(String);

impl State {
    pub(super) fn add_module(&mut self, context: ContextRef, loaded: Loaded) -> Outcome<Handle> {
        let Loaded { ptx, texts, .. } = loaded;
        let mut variables = HashMap::new();
        for variable in ptx.variables {
            let made = self.allocate_variable(variable.bytes, context, |bytes| {
                variable.initialise(bytes);
            });
            match made {
                Ok(made) => drop(variables.insert(variable.name, made)),
                Err(code) => {
                    self.free_variables(&variables);
                    return Err(code);
                }
            }
        }
        let handle = self.new_handle(Kind::Module);
        self.modules.insert(
            handle,
            Module {
                context,
                entries: ptx.entries.into_iter().map(Arc::new).collect(),
                variables,
                program: Arc::new(Program::new(texts)),
                functions: HashMap::new(),
            },
        );
        Ok(handle)
    }

    pub(super) fn unload(&mut self, module: Handle) -> Outcome {
        let found = self
            .modules
            .remove(&module)
            .ok_or(CUresult::INVALID_HANDLE)?;
        self.functions
            .retain(|_, function| function.module != module);
        self.free_variables(&found.variables);
        Ok(())
    }

    fn free_variables(&mut self, variables: &HashMap<String, Arc<Allocation>>) {
        for variable in variables.values() {
            self.mark_freed(variable);
            self.bury(variable);
        }
    }

    /// Address and bytes of a variable.
    pub(super) fn variable_of(&self, module: Handle, name: &str) -> Outcome<(u64, usize)> {
        let found = self.modules.get(&module).ok_or(CUresult::INVALID_HANDLE)?;
        match found.variables.get(name) {
            Some(variable) => Ok((variable.base, variable.bytes)),
            None if found.entries.iter().any(|entry| entry.name == name) => {
                Err(CUresult::INVALID_VALUE)
            }
            None => Err(CUresult::NOT_FOUND),
        }
    }

    pub(super) fn function_of(&mut self, module: Handle, name: &str) -> Outcome<Handle> {
        let found = self.modules.get(&module).ok_or(CUresult::INVALID_HANDLE)?;
        if let Some(&function) = found.functions.get(name) {
            return Ok(function);
        }
        let entry = found
            .entries
            .iter()
            .find(|entry| entry.name == name)
            .ok_or(CUresult::NOT_FOUND)?;
        let function = Function {
            context: found.context,
            module,
            entry: Arc::clone(entry),
            max_dynamic_shared: SHARED_BYTES_MAX - entry.shared_bytes as u32,
            carveout: -1,
            allows_large_clusters: false,
        };
        let handle = self.new_handle(Kind::Function);
        self.functions.insert(handle, function);
        if let Some(found) = self.modules.get_mut(&module) {
            found.functions.insert(name.to_owned(), handle);
        }
        Ok(handle)
    }

    pub(super) fn function(&self, handle: Handle) -> Outcome<&Function> {
        self.functions.get(&handle).ok_or(CUresult::INVALID_HANDLE)
    }

    pub(super) fn function_mut(&mut self, handle: Handle) -> Outcome<&mut Function> {
        self.functions
            .get_mut(&handle)
            .ok_or(CUresult::INVALID_HANDLE)
    }
}

impl Launch {
    /// Runs the kernel.
    ///
    /// # Errors
    /// What it did wrong.
    pub(super) fn run(&self, machine: &Machine) -> Result<(), Fault> {
        let body = match &self.code {
            Code::Body(body) => body,
            Code::Ptx(program, variables) => return program.run(self, variables, machine),
        };
        let mut call = KernelCall {
            machine,
            launch: self,
        };
        // A body sees copies only, so that nothing half-done of the simulation's can be left
        // behind.
        let result = callback(|| catch_unwind(AssertUnwindSafe(|| body(&mut call))));
        result.map_err(|panic| format!("kernel `{}` {}", self.entry.name, said(&*panic)).into())
    }

    /// Whether the kernel's device has access to the memory.
    pub(super) fn may_touch(&self, state: &State, memory: &Allocation) -> bool {
        memory.device == self.device
            || memory.host().is_some()
            || state.may_touch(self.context, self.device, memory.owner, &memory.devices())
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    if let Some(Wrong(text)) = panic.downcast_ref() {
        return text.clone();
    }
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!(
        "panicked: {}",
        text.unwrap_or("with something that is not text")
    )
}

impl KernelCall<'_> {
    /// Blocks in the grid.
    #[must_use]
    pub fn grid(&self) -> [u32; 3] {
        self.launch.shape.grid
    }

    /// Threads in a block.
    #[must_use]
    pub fn block(&self) -> [u32; 3] {
        self.launch.shape.block
    }

    /// Threads in the whole grid.
    #[must_use]
    pub fn threads(&self) -> u64 {
        let shape = &self.launch.shape;
        let dimensions = shape.grid.iter().chain(&shape.block);
        dimensions.fold(1, |product, &dimension| {
            product.saturating_mul(u64::from(dimension))
        })
    }

    /// Dynamic shared memory of a block, in bytes.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        self.launch.shape.shared_bytes
    }

    /// Blocks of a cluster, when the launch says so.
    #[must_use]
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.launch.shape.cluster
    }

    /// Whether all blocks run at once.
    #[must_use]
    pub fn is_cooperative(&self) -> bool {
        self.launch.shape.is_cooperative
    }

    /// How many parameters the kernel has.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.launch.entry.parameters.len()
    }

    /// A parameter that was passed by value. A `T` of another size than the parameter's is a fault.
    #[must_use]
    pub fn scalar<T: Pod>(&self, index: usize) -> T {
        let bytes = self.value(index);
        if bytes.len() != size_of::<T>() {
            self.fault(format!(
                "read parameter {index}, which has {} bytes, as {}",
                bytes.len(),
                size_of::<T>()
            ));
        }
        bytemuck::pod_read_unaligned(bytes)
    }

    /// A copy of device memory, from where pointer parameter `index` points to the end of the
    /// allocation. Empty for null.
    #[must_use]
    pub fn load<T: Pod>(&self, index: usize) -> Vec<T> {
        let Some(place) = self.place::<T>(index) else {
            return Vec::new();
        };
        self.load_from(&place, place.remaining() / size_of::<T>())
    }

    /// A copy of `n` elements of device memory, from where pointer parameter `index` points.
    #[must_use]
    pub fn load_n<T: Pod>(&self, index: usize, n: usize) -> Vec<T> {
        // Of nothing, the address may be that after the last byte.
        if n == 0 {
            return Vec::new();
        }
        match self.place::<T>(index) {
            Some(place) => self.load_from(&place, n),
            None => self.fault(format!(
                "read {n} elements through parameter {index}, which is null"
            )),
        }
    }

    /// Writes `values` to device memory, from where pointer parameter `index` points.
    pub fn store<T: Pod>(&mut self, index: usize, values: &[T]) {
        if values.is_empty() {
            return;
        }
        match self.place::<T>(index) {
            Some(place) => self.store_to(&place, values),
            None => self.fault(format!(
                "wrote {} elements through parameter {index}, which is null",
                values.len()
            )),
        }
    }

    /// Changes device memory, from where pointer parameter `index` points to the end of the
    /// allocation. For null, `f` gets an empty slice.
    pub fn update<T: Pod>(&mut self, index: usize, f: impl FnOnce(&mut [T])) {
        let Some(place) = self.place::<T>(index) else {
            return f(&mut []);
        };
        let mut values = self.load_from(&place, place.remaining() / size_of::<T>());
        let before = bytemuck::cast_slice::<T, u8>(&values).to_vec();
        f(&mut values);
        self.store_changes(&place, &before, &values);
    }

    /// A copy of `n` elements of device memory at an address that is part of a parameter: of a
    /// struct that was passed by value.
    #[must_use]
    pub fn load_at<T: Pod>(&self, address: u64, n: usize) -> Vec<T> {
        // Of nothing, the address may be that after the last byte.
        if n == 0 {
            return Vec::new();
        }
        match self.place_at::<T>(address, "a parameter's part") {
            Some(place) => self.load_from(&place, n),
            None => self.fault(format!("read {n} elements at null")),
        }
    }

    /// A copy of the variable `name` of the kernel's module. That there is none, or that its bytes
    /// are no whole number of `T`s, is a fault.
    ///
    /// ```
    /// # use scoped_cuda::sim::KernelCall;
    /// // __constant__ float table[4]; __device__ unsigned calls;
    /// fn look_up(call: &mut KernelCall<'_>) {
    ///     let table = call.global::<f32>("table");
    ///     call.update::<f32>(0, |x| x.iter_mut().for_each(|x| *x = table[*x as usize]));
    ///     call.update_global::<u32>("calls", |calls| calls[0] += 1);
    /// }
    /// ```
    #[must_use]
    pub fn global<T: Pod>(&self, name: &str) -> Vec<T> {
        let place = self.variable::<T>(name);
        self.load_from(&place, place.remaining() / size_of::<T>())
    }

    /// Changes the variable `name` of the kernel's module. As [`update`](Self::update), it is no
    /// atomic operation among several kernels.
    pub fn update_global<T: Pod>(&mut self, name: &str, f: impl FnOnce(&mut [T])) {
        let place = self.variable::<T>(name);
        let mut values = self.load_from(&place, place.remaining() / size_of::<T>());
        let before = bytemuck::cast_slice::<T, u8>(&values).to_vec();
        f(&mut values);
        self.store_changes(&place, &before, &values);
    }

    fn load_from<T: Pod>(&self, place: &Place, n: usize) -> Vec<T> {
        let bytes = n.saturating_mul(size_of::<T>());
        let loaded = place.read(bytes, |bytes| {
            let mut values = vec![T::zeroed(); n];
            bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
            values
        });
        loaded.unwrap_or_else(|text| self.fault(format!("read badly: {text}")))
    }

    fn store_to<T: Pod>(&self, place: &Place, values: &[T]) {
        let stored = place.with(size_of_val(values), |bytes| {
            bytes.copy_from_slice(bytemuck::cast_slice(values))
        });
        stored.unwrap_or_else(|text| self.fault(format!("wrote badly: {text}")));
    }

    fn store_changes<T: Pod>(&self, place: &Place, before: &[u8], values: &[T]) {
        let stored = place.write_changes(before, bytemuck::cast_slice(values));
        stored.unwrap_or_else(|text| self.fault(format!("wrote badly: {text}")));
    }

    /// Where a pointer parameter points; `None` for null.
    fn place<T: Pod>(&self, index: usize) -> Option<Place> {
        self.place_at::<T>(self.scalar::<u64>(index), &format!("parameter {index}"))
    }

    /// Where an address points that came from `origin`; `None` for null.
    fn place_at<T: Pod>(&self, address: u64, origin: &str) -> Option<Place> {
        if address == 0 {
            return None;
        }
        if size_of::<T>() == 0 || address % align_of::<T>() as u64 != 0 {
            self.fault(format!(
                "used {address:#x} ({origin}) as an address of {}",
                std::any::type_name::<T>()
            ));
        }
        let state = self.machine.lock();
        let Some(place) = state.locate(address) else {
            drop(state);
            self.fault(format!(
                "touched {address:#x} ({origin}), where there is no memory"
            ))
        };
        let (device, memory) = (self.launch.device, &place.allocation);
        if !self.launch.may_touch(&state, memory) {
            drop(state);
            self.fault(format!(
                "on device {device} touched {place} without access to that device's memory"
            ))
        }
        Some(place)
    }

    fn variable<T: Pod>(&self, name: &str) -> Place {
        let state = self.machine.lock();
        let module = state.modules.get(&self.launch.module);
        let found = module.and_then(|module| module.variables.get(name).map(Arc::clone));
        drop(state);
        let Some(allocation) = found else {
            self.fault(format!(
                "used the variable `{name}`, which its module does not have"
            ))
        };
        let (element, bytes) = (size_of::<T>(), allocation.bytes);
        if element == 0 || bytes % element != 0 || allocation.base % align_of::<T>() as u64 != 0 {
            self.fault(format!(
                "used the {bytes} bytes of the variable `{name}` as elements of type {}",
                std::any::type_name::<T>()
            ));
        }
        Place {
            allocation,
            offset: 0,
        }
    }

    fn value(&self, index: usize) -> &[u8] {
        match self.launch.entry.parameters.get(index) {
            Some(&Parameter { offset, size }) => &self.launch.values[offset..offset + size],
            None => self.fault(format!("has no parameter {index}")),
        }
    }

    /// Leaves the body. Not by `panic!`, which would print.
    fn fault(&self, text: String) -> ! {
        resume_unwind(Box::new(Wrong(text)))
    }
}

impl fmt::Debug for KernelCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelCall")
            .field("name", &self.launch.entry.name)
            .field("grid", &self.launch.shape.grid)
            .field("block", &self.launch.shape.block)
            .finish_non_exhaustive()
    }
}
