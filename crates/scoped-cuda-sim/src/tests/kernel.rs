//! Modules and launches.

#![allow(unsafe_code)] // raw driver calls

use super::*;

#[test]
fn a_kernel_gets_the_values_that_its_parameters_had_at_the_launch() {
    let program = patient();
    program.adds();
    let (first, second) = (program.retain(0), program.retain(1));
    let (stream, far, memory) = (
        program.stream(first),
        program.stream(second),
        program.plain(first, 8),
    );
    let function = program.function(first);
    ok(cu!(program, cuMemsetD32Async, memory, 5, 2, stream));
    ok(program.launch(function, stream, memory, 2, 3));
    ok(program.launch(function, stream, memory + 4, 1, 10));
    assert_eq!(program.read(memory, stream), 8_u32.to_ne_bytes());
    assert_eq!(program.read(memory + 4, stream), 18_u32.to_ne_bytes());
    assert_eq!(
        program.launch(function, far, memory, 2, 3),
        CUresult::INVALID_HANDLE
    );
    assert_eq!(
        program.launch(function, CUstream::NULL, memory, 2, 3),
        CUresult::INVALID_CONTEXT
    );
    let null = program.within(second, || {
        program.launch(function, CUstream::NULL, memory, 2, 3)
    });
    assert_eq!(null, CUresult::INVALID_HANDLE);
    for (grid, block, shared) in [(0, 1, 0), (1, 0, 0), (1, 257, 0), (1, 1, 233_000)] {
        let shape = (grid, block, shared);
        let code = program.launch_as(function, stream, shape, ptr::null_mut());
        assert_eq!(code, CUresult::INVALID_VALUE);
    }
    let (mut offset, mut size) = (0, 0);
    let info = program.cu.cuFuncGetParamInfo.unwrap();
    let mut of = |index| {
        // SAFETY: the out-pointers are valid for the call.
        let code = unsafe { info(function, index, &raw mut offset, &raw mut size) };
        (code, offset, size)
    };
    assert_eq!(of(2), (CUresult::SUCCESS, 12, 4));
    assert_eq!(of(3).0, CUresult::INVALID_VALUE);
    assert_eq!(program.machine.fault(), None);
}

#[test]
fn a_module_needs_ptx() {
    let program = patient();
    let context = program.retain(0);
    assert_eq!(
        program.load(context, "int main() {}").unwrap_err().0,
        CUresult::INVALID_IMAGE
    );
    let (code, log) = program
        .load(context, ".version 8.0\n.target sm_90\nnonsense")
        .unwrap_err();
    assert_eq!(code, CUresult::INVALID_PTX);
    assert!(log.contains("line 3") && log.contains("nonsense"), "{log}");
    let module = program.load(context, PTX).unwrap();
    let mut function = CUfunction::NULL;
    let missing = cu!(
        program,
        cuModuleGetFunction,
        &raw mut function,
        module,
        c"sub".as_ptr()
    );
    assert_eq!(missing, CUresult::NOT_FOUND);
    ok(cu!(program, cuModuleUnload, module));
    assert_eq!(
        cu!(program, cuModuleUnload, module),
        CUresult::INVALID_HANDLE
    );
}

#[test]
fn the_variables_of_a_module_come_and_go_with_it() {
    let program = program(Simulation::default().memory(1000));
    let context = program.retain(0);
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let free = || {
        let (mut free, mut total) = (0, 0);
        program.within(context, || {
            ok(cu!(program, cuMemGetInfo, &raw mut free, &raw mut total))
        });
        (free, program.machine.live().allocations)
    };
    let text = format!("{header}.global .b8 a[600]; .const .u32 b = 5;");
    let module = program.load(context, &text).unwrap();
    assert_eq!(free(), (396, 0));
    let refused = program.load(context, &text).unwrap_err().0;
    assert_eq!(refused, CUresult::OUT_OF_MEMORY);
    let huge = format!("{header}.global .b8 small; .global .b8 huge[9223372036854775807];");
    let refused = program.load(context, &huge).unwrap_err().0;
    assert_eq!(refused, CUresult::OUT_OF_MEMORY);
    assert_eq!(free(), (396, 0), "a failed load leaves nothing");
    let (mut address, stream) = (0, program.stream(context));
    let find = |address| {
        cu!(
            program,
            cuModuleGetGlobal,
            address,
            ptr::null_mut(),
            module,
            c"b".as_ptr()
        )
    };
    ok(find(&raw mut address));
    assert_eq!(program.read(address, stream), 5_u32.to_ne_bytes());
    let code = cu!(program, cuMemFreeAsync, address, stream);
    assert_eq!(code, CUresult::INVALID_VALUE);
    ok(cu!(program, cuModuleUnload, module));
    assert_eq!(free(), (1000, 0));
    assert_eq!(find(&raw mut address), CUresult::INVALID_HANDLE);
    program.load(context, &text).unwrap();
    ok(cu!(program, cuStreamDestroy, stream));
    ok(program.release(0));
    assert_eq!(program.machine.live(), Live::default());
    let again = program.retain(0);
    assert!(
        program.load(again, &text).is_ok(),
        "the context took them along"
    );
}
