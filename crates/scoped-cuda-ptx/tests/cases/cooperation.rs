//! Threads that work together: shared memory, barriers, warps, atomics, clusters, grids.

use super::{ASYNCHRONOUS, BLOCKS, Case, noise};

pub(super) fn cases() -> Vec<Case> {
    vec![
        reduce_tree(),
        reduce_shuffle(),
        scan_block(),
        scan_warp(),
        histogram(),
        bitonic(),
        votes(),
        atomics(),
        double_by_cas(),
        grid_sync(),
        cluster_sum(),
        last_block(),
        spin_lock(),
        named_barriers(),
        barrier_votes(),
        coalesced(),
        copied(),
        awaited(),
        block_sort(),
        block_scan(),
        block_reduce(),
    ]
}

fn small(count: usize, seed: u32) -> Vec<u32> {
    noise(count, seed).iter().map(|word| word % 100).collect()
}

fn reduce_tree() -> Case {
    let x = noise(1024, 20);
    let sums: Vec<u32> = x
        .chunks(256)
        .map(|part| part.iter().fold(0u32, |sum, v| sum.wrapping_add(*v)))
        .collect();
    Case::new("reduce_tree", 4, 256)
        .words(&x)
        .fresh(16)
        .gives(&sums)
}

fn reduce_shuffle() -> Case {
    let x = small(1000, 21);
    Case::new("reduce_shuffle", 3, 96)
        .words(&x)
        .words(&[0])
        .gives(&[x.iter().sum()])
        .number(1000)
}

fn scanned(x: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    x.iter()
        .map(|v| {
            sum += v;
            sum
        })
        .collect()
}

fn scan_block() -> Case {
    let x = small(200, 22);
    let mut case = Case::new("scan_block", 1, 200)
        .words(&x)
        .fresh(800)
        .gives(&scanned(&x));
    case.shared = 800;
    case
}

fn scan_warp() -> Case {
    let x = small(64, 23);
    let y: Vec<u32> = x.chunks(32).flat_map(scanned).collect();
    Case::new("scan_warp", 1, 64).words(&x).fresh(256).gives(&y)
}

fn histogram() -> Case {
    let x: Vec<u8> = noise(5000, 24)
        .iter()
        .map(|word| (word >> 3) as u8)
        .collect();
    let mut bins = vec![0; 256];
    for byte in &x {
        bins[usize::from(*byte)] += 1;
    }
    Case::new("histogram", 3, 128)
        .bytes(&x)
        .words(&[0; 256])
        .gives(&bins)
        .number(5000)
}

fn bitonic() -> Case {
    let x = noise(512, 25);
    let mut sorted = x.clone();
    sorted.sort_unstable();
    Case::new("bitonic", 1, 256).words(&x).gives(&sorted)
}

fn votes() -> Case {
    let x: Vec<u32> = small(32, 26);
    let all = |f: &dyn Fn(usize) -> u32| (0..32).map(f).collect::<Vec<u32>>();
    let ballot = |f: &dyn Fn(u32) -> bool| {
        (0..32)
            .filter(|lane| f(x[*lane]))
            .fold(0u32, |bits, lane| bits | 1 << lane)
    };
    let mut out = all(&|_| ballot(&|v| v & 1 == 1));
    out.extend(all(&|_| 2));
    out.extend(all(&|lane| ballot(&|v| v % 5 == x[lane] % 5)));
    out.extend(all(&|_| !0));
    out.extend(all(&|_| 1));
    let thirds = (0..32)
        .filter(|lane| lane % 3 == 0)
        .fold(0u32, |bits, lane| bits | 1 << lane);
    let second = ballot(&|v| v & 2 == 2);
    out.extend(all(&|lane| {
        if lane % 3 == 0 {
            thirds
        } else {
            second & !thirds
        }
    }));
    out.extend(all(&|_| x.iter().sum()));
    let least = x.iter().map(|v| *v as i32 - 50).min().unwrap_or(0);
    out.extend(all(&|_| least as u32));
    out.extend(all(&|_| x.iter().fold(0, |all, v| all ^ v)));
    out.extend(all(&|lane| x[lane ^ 5]));
    out.extend(all(&|lane| x[lane / 8 * 8 + 7]));
    Case::new("votes", 1, 32)
        .words(&x)
        .fresh(4 * 352)
        .gives(&out)
}

fn atomics() -> Case {
    let threads = 256u32;
    let sum: u32 = (0..threads).sum();
    // The tenth word is swapped for t + 1 by the thread that finds t there.
    let x = [0, 0, !0, 0, !0, 0, 0, 0, 5, 3, 1_000, 100, !999, 0, 0, 0];
    let mut dec = 5u32;
    for _ in 0..threads {
        dec = if dec == 0 || dec > 10 { 10 } else { dec - 1 };
    }
    let after = [
        sum,
        0u32.wrapping_sub(sum),
        5,
        255,
        0,
        !0,
        (0..threads).fold(0, |all, t| all ^ t),
        threads % 11,
        dec,
        7,
        1_000,
        -255i32 as u32,
        0,
        0,
        0,
        0,
    ];
    let high = u64::from(sum) << 32;
    let y = [high as u32, (high >> 32) as u32, 0, 255 << 1, 9, 0];
    Case::new("atomics", 2, 128)
        .words(&x)
        .gives(&after)
        .words(&[0; 6])
        .gives(&y)
        .floats(&[1.0])
        .gives_floats(&[129.0])
        .words(&[0, 0])
        .gives(&[0, (64f64.to_bits() >> 32) as u32])
}

fn double_by_cas() -> Case {
    let bits = 192f64.to_bits();
    Case::new("double_by_cas", 2, 96)
        .words(&[0, 0])
        .gives(&[bits as u32, (bits >> 32) as u32])
}

fn grid_sync() -> Case {
    let mut x = small(6 * 64, 27);
    let before = x.clone();
    for _ in 0..5 {
        x.rotate_left(1);
        for v in &mut x {
            *v += 1;
        }
    }
    let mut case = Case::new("grid_sync", 6, 64)
        .words(&before)
        .gives(&x)
        .number(5);
    case.is_cooperative = true;
    case
}

fn cluster_sum() -> Case {
    let x = small(8 * 64, 28);
    let sums: Vec<u32> = (0..8u32)
        .map(|block| {
            let first = block as usize / 4 * 256;
            x[first..first + 256].iter().sum::<u32>() + 1000 * (block % 4)
        })
        .collect();
    let mut case = Case::new("cluster_sum", 8, 64)
        .words(&x)
        .fresh(32)
        .gives(&sums);
    case.cluster = 4;
    case
}

fn last_block() -> Case {
    let x = small(6 * 64, 29);
    Case::new("last_block", 6, 64)
        .words(&x)
        .fresh(24)
        .fresh(4)
        .gives(&[x.iter().sum()])
}

fn spin_lock() -> Case {
    Case::new("spin_lock", 2, 64)
        .words(&[0])
        .words(&[0])
        .gives(&[128])
}

fn named_barriers() -> Case {
    let out: Vec<u32> = (0..4)
        .flat_map(|round| (0..64).map(move |t| t * 10 + round))
        .collect();
    Case::new("named_barriers", 1, 128).fresh(1024).gives(&out)
}

fn barrier_votes() -> Case {
    let x = small(96, 30);
    let count = x.iter().filter(|v| *v & 1 == 1).count() as u32;
    let (all, any) = (x.iter().all(|v| *v < 90), x.iter().any(|v| *v > 90));
    let out = vec![count * 4 + u32::from(all) * 2 + u32::from(any); 96];
    Case::new("barrier_votes", 1, 96)
        .words(&x)
        .fresh(384)
        .gives(&out)
}

fn coalesced() -> Case {
    let x = small(32, 31);
    let members: Vec<usize> = (0..32).filter(|lane| x[*lane] % 3 == 1).collect();
    let sum: u32 = members.iter().map(|lane| x[*lane]).sum();
    let out: Vec<u32> = (0..32)
        .map(
            |lane| match members.iter().position(|member| *member == lane) {
                Some(rank) => sum * 100 + rank as u32,
                None => 0,
            },
        )
        .collect();
    Case::new("coalesced", 1, 32)
        .words(&x)
        .fresh(128)
        .gives(&out)
}

fn copied() -> Case {
    let x = noise(1024, 32);
    let mut y = x.clone();
    y.reverse();
    let mut case = Case::new("copied", 1, 256).words(&x).fresh(4096).gives(&y);
    case.text = ASYNCHRONOUS;
    case
}

fn awaited() -> Case {
    let x = small(128, 33);
    let mut v = x.clone();
    for _ in 0..3 {
        v = (0..128).map(|i| v[i] + v[(i + 1) % 128]).collect();
    }
    let mut case = Case::new("awaited", 1, 128).words(&x).fresh(512).gives(&v);
    case.text = ASYNCHRONOUS;
    case
}

fn block_sort() -> Case {
    let x = noise(512, 34);
    let mut sorted = x.clone();
    sorted.sort_unstable();
    let mut case = Case::new("block_sort", 1, 128).words(&x).gives(&sorted);
    case.text = BLOCKS;
    case
}

fn block_scan() -> Case {
    let x = small(256, 35);
    let mut case = Case::new("block_scan", 1, 256)
        .words(&x)
        .gives(&scanned(&x));
    case.text = BLOCKS;
    case
}

fn block_reduce() -> Case {
    let x = small(256, 36);
    let mut case = Case::new("block_reduce", 1, 256)
        .words(&x)
        .fresh(4)
        .gives(&[x.iter().sum()]);
    case.text = BLOCKS;
    case
}
