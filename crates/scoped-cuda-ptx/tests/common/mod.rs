//! Device memory for tests: allocations in a map, and launches of kernels on them.
#![allow(dead_code)]

use scoped_cuda_ptx::{Finding, Memory, Module, Options, Region, Shape, launch};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The device's memory.
#[derive(Default)]
pub(crate) struct Heap {
    regions: BTreeMap<u64, Arc<Region>>,
    next: u64,
}

impl Memory for Heap {
    fn region(&self, address: u64) -> Option<Arc<Region>> {
        let (_, region) = self.regions.range(..=address).next_back()?;
        (address - region.base() < region.bytes()).then(|| region.clone())
    }

    fn nearest(&self, address: u64) -> Option<Arc<Region>> {
        let before = self.regions.range(..=address).next_back();
        let after = self.regions.range(address..).next();
        before.or(after).map(|(_, region)| region.clone())
    }
}

/// What a launch is given, one parameter after the other.
#[derive(Clone, Default)]
pub(crate) struct Parameters(Vec<u8>);

impl Parameters {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds bytes, aligned to their number.
    pub(crate) fn with(mut self, bytes: &[u8]) -> Self {
        let align = bytes.len().next_power_of_two().clamp(1, 16);
        self.0.resize(self.0.len().next_multiple_of(align), 0);
        self.0.extend(bytes);
        self
    }

    pub(crate) fn pointer(self, address: u64) -> Self {
        self.with(&address.to_le_bytes())
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.with(&value.to_le_bytes())
    }

    pub(crate) fn f32(self, value: f32) -> Self {
        self.with(&value.to_le_bytes())
    }
}

/// A module that is loaded into memory of its own.
pub(crate) struct Device {
    pub(crate) module: Module,
    pub(crate) heap: Heap,
    variables: Vec<u64>,
    pub(crate) read_only: Vec<Range<u64>>,
    pub(crate) printed: Mutex<String>,
    pub(crate) workers: usize,
    pub(crate) steps_max: u64,
    pub(crate) stack_bytes: u32,
}

impl Device {
    pub(crate) fn new(text: &str) -> Self {
        let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let mut device = Self {
            module,
            heap: Heap::default(),
            variables: Vec::new(),
            read_only: Vec::new(),
            printed: Mutex::default(),
            workers: 1,
            steps_max: 1 << 24,
            stack_bytes: 16 << 10,
        };
        device.place_variables();
        device
    }

    fn place_variables(&mut self) {
        let variables = self.module.variables().to_vec();
        let mut regions = Vec::new();
        for variable in &variables {
            let base = self.place(variable.bytes.max(1));
            self.variables.push(base);
            let region = Region::owned(base, variable.bytes, 0, variable.name.clone());
            let region = if variable.is_constant {
                region.constant()
            } else {
                region
            };
            region.set_initialised(0..variable.bytes);
            region.write(0, &variable.initial);
            regions.push(region);
        }
        for (variable, region) in variables.iter().zip(regions) {
            for relocation in &variable.relocations {
                let of = variables
                    .iter()
                    .position(|other| other.name == relocation.symbol);
                let address = match of {
                    Some(index) => self.variables[index],
                    None => self.module.function_address(&relocation.symbol).unwrap(),
                };
                let address = address.wrapping_add(relocation.offset as u64);
                let bytes = address.to_le_bytes();
                region.write(relocation.at, &bytes[..relocation.bytes as usize]);
            }
            self.heap.regions.insert(region.base(), Arc::new(region));
        }
    }

    fn place(&mut self, bytes: u64) -> u64 {
        let base = self.heap.next.max(0x7_0000_0000);
        // A gap after each, so that an access beyond the end meets nothing.
        self.heap.next = (base + bytes).next_multiple_of(256) + 256;
        base
    }

    /// Memory that nobody has written.
    pub(crate) fn fresh(&mut self, bytes: u64, label: &str) -> u64 {
        let base = self.place(bytes);
        let region = Region::owned(base, bytes, 0xCD, label);
        self.heap.regions.insert(base, Arc::new(region));
        base
    }

    pub(crate) fn upload(&mut self, bytes: &[u8], label: &str) -> u64 {
        let base = self.fresh(bytes.len() as u64, label);
        self.heap.regions[&base].write(0, bytes);
        base
    }

    pub(crate) fn upload_u32(&mut self, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.upload(&bytes, "words")
    }

    pub(crate) fn upload_f32(&mut self, values: &[f32]) -> u64 {
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        self.upload_u32(&bits)
    }

    /// Writes bytes at the start of an allocation.
    pub(crate) fn heap_write(&self, address: u64, bytes: &[u8]) {
        self.heap.regions[&address].write(0, bytes);
    }

    pub(crate) fn free(&self, address: u64) {
        self.heap.regions[&address].free();
    }

    pub(crate) fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let region = self.heap.region(address).unwrap();
        region.read(address - region.base(), bytes)
    }

    pub(crate) fn read_u32(&self, address: u64, count: usize) -> Vec<u32> {
        let bytes = self.read(address, 4 * count);
        bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn read_f32(&self, address: u64, count: usize) -> Vec<f32> {
        self.read_u32(address, count)
            .into_iter()
            .map(f32::from_bits)
            .collect()
    }

    pub(crate) fn variable(&self, name: &str) -> u64 {
        let index = self
            .module
            .variables()
            .iter()
            .position(|variable| variable.name == name);
        self.variables[index.unwrap()]
    }

    pub(crate) fn launch(
        &self,
        kernel: &str,
        shape: Shape,
        parameters: Parameters,
    ) -> Result<(), Box<Finding>> {
        self.module
            .check_supported(kernel)
            .unwrap_or_else(|missing| panic!("{missing}"));
        let print = |text: &str| self.printed.lock().unwrap().push_str(text);
        let options = Options {
            workers: self.workers,
            steps_max: self.steps_max,
            stack_bytes: self.stack_bytes,
            read_only: &self.read_only,
            print: &print,
            ..Options::default()
        };
        let kernel = self.module.kernel(kernel).unwrap();
        launch(
            kernel,
            &shape,
            &parameters.0,
            &self.variables,
            &self.heap,
            &options,
        )
    }

    /// Runs a kernel that must be without fault.
    pub(crate) fn run(&self, kernel: &str, shape: Shape, parameters: Parameters) {
        if let Err(finding) = self.launch(kernel, shape, parameters) {
            panic!("{finding}");
        }
    }
}
