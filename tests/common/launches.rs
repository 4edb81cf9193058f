//! Kernels that tell what they were given, as PTX and as host functions.

use bytemuck::{Pod, Zeroable};
use scoped_cuda::sim::Machine;

/// Made of `launches.cu`, see there.
pub(crate) const PTX: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("launches.ptx");

/// `struct Pair`.
#[derive(Clone, Copy, PartialEq, Debug, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct Pair {
    pub(crate) a: f32,
    /// C has a hole here; plain data has none.
    pub(crate) hole: u32,
    pub(crate) b: f64,
}

/// `float4`.
#[derive(Clone, Copy, PartialEq, Debug, Zeroable, Pod)]
#[repr(C, align(16))]
pub(crate) struct Float4(pub(crate) [f32; 4]);

pub(crate) fn register(machine: &Machine) {
    machine.kernel("fill_counted", |call| {
        let (n, value) = (call.scalar::<u32>(1) as usize, call.scalar::<f32>(2));
        call.store(0, &vec![value; n]);
    });
    machine.kernel("count_64", |call| {
        let n = call.scalar::<u64>(1);
        call.store(2, &[n]);
    });
    machine.kernel("sum_span", |call| {
        let [data, len] = call.scalar::<[u64; 2]>(0);
        let sum: f32 = call.load_at::<f32>(data, len as usize).iter().sum();
        call.store(1, &[sum]);
    });
    machine.kernel("copy_or", |call| {
        let n = call.scalar::<u32>(3) as usize;
        let copied = match call.scalar::<u64>(0) {
            0 => vec![call.scalar::<f32>(1); n],
            _ => call.load_n::<f32>(0, n),
        };
        call.store(2, &copied);
    });
    machine.kernel("count_or_null", |call| {
        let n = call.scalar::<u32>(1);
        let is_null = call.scalar::<u64>(0) == 0;
        call.store(2, &[if is_null { 1000 + n } else { n }]);
    });
    machine.kernel("shared_bytes", |call| {
        let told = [call.scalar::<u32>(0), call.shared_bytes()];
        call.store(1, &told);
    });
    machine.kernel("structs", |call| {
        let (v, pair) = (call.scalar::<[f32; 4]>(1), call.scalar::<Pair>(2));
        let v = v[0] + 10.0 * v[1] + 100.0 * v[2] + 1000.0 * v[3];
        let (c, h) = (call.scalar::<i8>(0), call.scalar::<i16>(3));
        let all = [
            f64::from(c),
            f64::from(v),
            f64::from(pair.a) + pair.b,
            f64::from(h),
        ];
        call.store(4, &all);
    });
    machine.kernel("sixteen", |call| {
        let all: Vec<u32> = (1..16).map(|index| call.scalar(index)).collect();
        call.store(0, &all);
    });
    machine.kernel("bounded", |call| {
        let threads = call.block()[0];
        call.store(0, &[threads]);
    });
    machine.kernel("static_shared", |call| {
        let reversed: Vec<u32> = (0..call.block()[0]).rev().collect();
        call.store(0, &reversed);
    });
    machine.kernel("meet", |call| {
        let blocks = call.grid()[0];
        assert!(
            call.is_cooperative(),
            "blocks that wait for each other must all run"
        );
        call.store(0, &[blocks]);
        call.store(1, &vec![blocks; blocks as usize]);
    });
    machine.kernel("clusters", |call| {
        let [x, y, z] = call.cluster().unwrap_or([1; 3]);
        let seen = vec![x + 100 * y + 10_000 * z; call.grid()[0] as usize];
        call.store(0, &seen);
    });
    machine.kernel("write_late", |call| {
        let values = vec![call.scalar::<u32>(2); call.scalar::<u32>(1) as usize];
        call.store(0, &values);
    });
    machine.kernel("copy_after_wait", |call| {
        let values = call.load_n::<u32>(0, call.scalar::<u32>(2) as usize);
        call.store(1, &values);
    });
}
