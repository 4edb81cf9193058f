//! Variables of modules: what finds them, and what kind of memory they are.

use crate::common::PTX;
use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ffi::{CStr, c_void};
use std::ptr;

/// Runs a test with the module of the tests, loaded on device 0.
fn with_module(test: impl FnOnce(Api, &[Side], CUmodule)) {
    on_sides(|api, sides| {
        let module = api.within(sides[0].context, || api.load(PTX.as_str()));
        test(api, sides, module);
        ok(api.sync(sides[0].stream));
        ok(cu!(api.cuModuleUnload(module)));
    });
}

/// What looking a variable up answers.
fn look_up(api: Api, module: CUmodule, name: &CStr) -> (CUresult, CUdeviceptr, usize) {
    let (mut address, mut bytes) = (UNTOUCHED, UNTOUCHED as usize);
    let code = cu!(api.cuModuleGetGlobal(&raw mut address, &raw mut bytes, module, name.as_ptr()));
    (code, address, bytes)
}

/// The address of a variable of so many bytes.
#[track_caller]
fn find(api: Api, module: CUmodule, name: &CStr, bytes: usize) -> CUdeviceptr {
    let (code, address, found) = look_up(api, module, name);
    assert_eq!((code, found), (SUCCESS, bytes), "{name:?}");
    address
}

/// The first four bytes at an address, read with nothing current.
fn read(api: Api, side: Side, address: CUdeviceptr) -> u32 {
    let mut value = 0;
    ok(copy_out(api, side, address, &mut value));
    ok(api.sync(side.stream));
    value
}

fn copy_out(api: Api, side: Side, address: CUdeviceptr, to: &mut u32) -> CUresult {
    cu!(api.cuMemcpyDtoHAsync(ptr::from_mut(to).cast(), address, 4, side.stream))
}

fn copy_in(api: Api, side: Side, address: CUdeviceptr, from: &u32) -> CUresult {
    cu!(api.cuMemcpyHtoDAsync(address, ptr::from_ref(from).cast(), 4, side.stream))
}

#[test]
fn a_variable_is_found_whatever_is_current() {
    with_module(|api, sides, module| {
        api.answers(sides, [SUCCESS; 3], || look_up(api, module, c"counter").0);
    });
}

#[test]
fn a_variable_has_its_size_and_a_place_of_its_own() {
    with_module(|api, _, module| {
        let mut places: Vec<_> = [
            (c"counter", 4),
            (c"moments", 24),
            (c"weights", 16),
            (c"primes", 12),
        ]
        .map(|(name, bytes)| (find(api, module, name, bytes), bytes as u64))
        .into();
        assert_eq!(
            find(api, module, c"counter", 4),
            places[0].0,
            "the same again"
        );
        assert_eq!(places[1].0 % 8, 0, "as the text says");
        places.sort_unstable();
        let apart = places
            .windows(2)
            .all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
        assert!(apart && places[0].0 != 0, "{places:x?}");
    });
}

#[test]
fn what_is_no_variable_is_refused() {
    with_module(|api, _, module| {
        assert_eq!(look_up(api, module, c"nobody").0, CUresult::NOT_FOUND);
        assert_eq!(look_up(api, module, c"Counter").0, CUresult::NOT_FOUND);
        assert_eq!(look_up(api, module, c"").0, INVALID_VALUE);
        assert_eq!(look_up(api, module, c"count").0, INVALID_VALUE, "a kernel");
    });
}

#[test]
fn nobody_has_to_ask_for_both_address_and_size() {
    with_module(|api, _, module| {
        let (mut address, mut bytes) = (0, 0);
        let name = c"moments".as_ptr();
        ok(cu!(api.cuModuleGetGlobal(
            &raw mut address,
            ptr::null_mut(),
            module,
            name
        )));
        ok(cu!(api.cuModuleGetGlobal(
            ptr::null_mut(),
            &raw mut bytes,
            module,
            name
        )));
        assert_eq!((address, bytes), (find(api, module, c"moments", 24), 24));
    });
}

/// As with `cuMemAlloc` memory.
#[test]
fn copies_and_fills_of_a_variable_need_no_context() {
    with_module(|api, sides, module| {
        let own = sides[0];
        for (name, bytes, initial) in [
            (c"counter", 4, 7),
            (c"weights", 16, 1.0_f32.to_bits()),
            (c"primes", 12, 2),
        ] {
            let address = find(api, module, name, bytes);
            assert_eq!(read(api, own, address), initial, "{name:?}");
            let (mut value, plain) = (0, own.plain[0]);
            api.answers(sides, [SUCCESS; 3], || copy_in(api, own, address, &11));
            api.answers(sides, [SUCCESS; 3], || {
                copy_out(api, own, address, &mut value)
            });
            api.answers(sides, [SUCCESS; 3], || {
                cu!(api.cuMemcpyDtoDAsync(plain, address, 4, own.stream))
            });
            ok(api.sync(own.stream));
            assert_eq!((value, read(api, own, plain)), (11, 11));
            api.answers(sides, [SUCCESS; 3], || {
                cu!(api.cuMemsetD32Async(address, 12, 1, own.stream))
            });
            assert_eq!(read(api, own, address), 12);
        }
    });
}

/// Each launch sees what was written before it, in the order of the stream.
#[test]
fn kernels_see_what_was_written_to_a_variable() {
    with_module(|api, sides, module| {
        let own = sides[0];
        let (count, weigh) = (api.function(module, "count"), api.function(module, "weigh"));
        let counter = find(api, module, c"counter", 4);
        ok(api.launch(count, own.stream));
        ok(cu!(api.cuMemsetD32Async(counter, 100, 1, own.stream)));
        ok(api.launch(count, own.stream));
        ok(api.launch(count, own.stream));
        assert_eq!(read(api, own, counter), 102);

        let (weights, x) = (find(api, module, c"weights", 16), own.plain[0]);
        let one = 1.0_f32.to_bits();
        for factor in [5.0_f32, -3.0] {
            ok(cu!(api.cuMemsetD32Async(x, one, 1, own.stream)));
            ok(copy_in(api, own, weights, &factor.to_bits()));
            let (mut address, mut n) = (x, 1_u32);
            let arguments = [(&raw mut address).cast(), (&raw mut n).cast()];
            launch(api, own, weigh, arguments);
            assert_eq!(f32::from_bits(read(api, own, x)), factor);
        }
    });
}

/// Launches a kernel in one block of one thread.
fn launch<const N: usize>(
    api: Api,
    side: Side,
    kernel: CUfunction,
    mut arguments: [*mut c_void; N],
) {
    let arguments = arguments.as_mut_ptr();
    ok(more!(api.cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        side.stream,
        arguments,
        ptr::null_mut()
    )));
}

#[test]
fn a_kernel_reads_a_constant_through_its_address() {
    with_module(|api, sides, module| {
        let own = sides[0];
        let add = api.function(module, "add");
        let (mut primes, mut sums, mut n) = (find(api, module, c"primes", 12), own.plain[0], 1_u32);
        ok(cu!(api.cuMemsetD32Async(sums, 40, 1, own.stream)));
        let arguments = [
            (&raw mut primes).cast(),
            (&raw mut sums).cast(),
            (&raw mut n).cast(),
        ];
        launch(api, own, add, arguments);
        assert_eq!(read(api, own, sums), 42);
    });
}

#[test]
fn each_load_of_a_text_has_its_own_variables() {
    with_module(|api, sides, module| {
        let own = sides[0];
        // The one of the rig is of the same text.
        let [first, second] = [module, own.module].map(|module| find(api, module, c"counter", 4));
        assert_ne!(first, second);
        ok(copy_in(api, own, first, &50));
        assert_eq!((read(api, own, first), read(api, own, second)), (50, 7));
    });
}

#[test]
fn a_variable_is_freed_by_nobody_and_goes_with_its_module() {
    on_sides(|api, sides| {
        let own = sides[0];
        let module = api.within(own.context, || api.load(PTX.as_str()));
        let counter = find(api, module, c"counter", 4);
        assert_eq!(more!(api.cuMemFree(counter)), INVALID_VALUE);
        assert_eq!(read(api, own, counter), 7);
        ok(cu!(api.cuModuleUnload(module)));
        assert_eq!(copy_in(api, own, counter, &8), INVALID_VALUE);
        assert_eq!(copy_out(api, own, counter, &mut 0), INVALID_VALUE);
        assert_eq!(look_up(api, module, c"counter").0, INVALID_HANDLE);
    });
}
