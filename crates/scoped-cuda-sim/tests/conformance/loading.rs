//! Entry points by version, names of codes, and device ordinals.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ffi::{CStr, c_char, c_int};

/// A symbol is asked for in the version in which its signature appeared: an older version has none,
/// and one above the driver's own finds nothing at all.
#[test]
fn entry_points_are_found_from_their_version_up_to_the_drivers() {
    on_api(|api| {
        let mut version = 0;
        ok(cu!(api.cuDriverGetVersion(&raw mut version)));
        let is_found = |name, version| !api.driver.symbol(name, version).is_null();
        let first = [
            ("cuCtxGetId", 11_080, 12_000),
            ("cuFuncGetParamInfo", 12_030, 12_040),
        ];
        for (name, before, first) in first {
            assert!(!is_found(name, before), "{name}");
            for version in [first, version] {
                assert!(is_found(name, version), "{name} of {version}");
            }
        }
        for name in ["cuInit", "cuCtxGetId", "cuLaunchKernel"] {
            assert!(is_found(name, version), "{name}");
            for above in [version + 10, version + 1000] {
                assert!(!is_found(name, above), "{name} of {above}");
            }
        }
        assert!(!is_found("cuNothingOfThisName", 12_000));
    });
}

#[test]
fn codes_have_names_and_unknown_ones_null() {
    on_api(|api| {
        let mut text: *const c_char = std::ptr::without_provenance(0x77);
        let unknown = CUresult(12_345);
        assert_eq!(
            cu!(api.cuGetErrorName(unknown, &raw mut text)),
            INVALID_VALUE
        );
        assert!(text.is_null());
        text = std::ptr::without_provenance(0x77);
        assert_eq!(
            cu!(api.cuGetErrorString(unknown, &raw mut text)),
            INVALID_VALUE
        );
        assert!(text.is_null());
        ok(cu!(
            api.cuGetErrorName(CUresult::ILLEGAL_ADDRESS, &raw mut text)
        ));
        // SAFETY: the driver gives a string of its own.
        let name = unsafe { CStr::from_ptr(text) };
        assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
        ok(cu!(api.cuGetErrorString(
            CUresult::ILLEGAL_ADDRESS,
            &raw mut text
        )));
        assert!(!text.is_null());
    });
}

#[test]
fn devices_that_do_not_exist_are_refused() {
    on_api(|api| {
        const INVALID_DEVICE: CUresult = CUresult::INVALID_DEVICE;
        let device = api.device(0);
        let past = device + c_int::try_from(api.driver.device_count().unwrap()).unwrap();
        for ordinal in [-1, past, device + 60] {
            let mut found = -77;
            let code = cu!(api.cuDeviceGet(&raw mut found, ordinal));
            assert_eq!((code, found), (INVALID_DEVICE, -77), "{ordinal}");
        }
        let absent = device + 60;
        let (mut value, mut text, mut context) = (0, [0; 64], CUcontext::NULL);
        let warp_size = 10;
        let codes = [
            cu!(api.cuDeviceGetAttribute(&raw mut value, warp_size, absent)),
            cu!(api.cuDeviceGetName(text.as_mut_ptr(), 64, absent)),
            cu!(api.cuDeviceGetPCIBusId(text.as_mut_ptr(), 64, absent)),
            cu!(api.cuDevicePrimaryCtxRetain(&raw mut context, absent)),
            cu!(api.cuDeviceCanAccessPeer(&raw mut value, device, absent)),
            cu!(api.cuDeviceGetP2PAttribute(&raw mut value, 1, device, absent)),
            cu!(api.cuDeviceGetP2PAttribute(&raw mut value, 1, device, device)),
        ];
        assert_eq!(codes, [INVALID_DEVICE; 7]);
        let (properties, mut pool) = (pool_of(absent), CUmemoryPool::NULL);
        let code = cu!(api.cuMemPoolCreate(&raw mut pool, &raw const properties));
        assert_eq!(code, INVALID_VALUE);
        let code = cu!(api.cuDeviceGetAttribute(&raw mut value, 9999, device));
        assert_eq!(code, INVALID_VALUE);
        ok(cu!(api.cuDeviceCanAccessPeer(
            &raw mut value,
            device,
            device
        )));
        assert_eq!(value, 0, "a device is no peer of itself");
    });
}
