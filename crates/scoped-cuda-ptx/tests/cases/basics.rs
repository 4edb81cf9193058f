//! Arithmetic, memory, control flow and calls.

use super::{Case, Compare, bytes, noise};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        saxpy(),
        transpose(),
        stencil(),
        matmul(),
        fibonacci(),
        ackermann(),
        collatz(),
        choose(),
        pointers(),
        structures(),
        tables(),
        local_arrays(),
        mandelbrot(),
        crc(),
        life(),
        spmv(),
        vectors(),
        hello(),
    ];
    cases.push(
        Case::new("early_exit", 1, 256)
            .words(&noise(256, 9))
            .fresh(4 * 200)
            .number(200),
    );
    if let Some(case) = cases.last_mut() {
        let mut words = noise(256, 9);
        words.truncate(200);
        words.reverse();
        case.results.push((1, bytes(&words), Compare::Bits));
    }
    cases
}

fn saxpy() -> Case {
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.37).collect();
    let y: Vec<f32> = (0..1000).map(|i| 100.0 - i as f32).collect();
    let result: Vec<f32> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| 1.7f32.mul_add(*x, *y))
        .collect();
    Case::new("saxpy", 4, 256)
        .floats(&x)
        .floats(&y)
        .value(&1.7f32.to_le_bytes())
        .number(1000)
        .gives_floats_at(1, &result)
}

fn transpose() -> Case {
    let x = noise(64 * 64, 3);
    let y: Vec<u32> = (0..64 * 64).map(|i| x[i % 64 * 64 + i / 64]).collect();
    let mut case = Case::new("transpose", 2, 32)
        .words(&x)
        .fresh(4 * 64 * 64)
        .gives(&y)
        .number(64);
    case.grid = [2, 2, 1];
    case.block = [32, 8, 1];
    case
}

fn stencil() -> Case {
    let x: Vec<f32> = noise(1000, 4)
        .iter()
        .map(|word| (word % 1000) as f32 * 0.01)
        .collect();
    let at = |i: i64| {
        if i < 0 {
            0.0
        } else {
            x.get(i as usize).copied().unwrap_or(0.0)
        }
    };
    // The compiler fuses two of the products with the sums.
    let result: Vec<f32> = (0..1000)
        .map(|i| 0.25f32.mul_add(at(i + 1), at(i - 1).mul_add(0.25, 0.5 * at(i))))
        .collect();
    Case::new("stencil", 8, 128)
        .floats(&x)
        .fresh(4000)
        .gives_floats(&result)
        .number(1000)
}

fn matmul() -> Case {
    const N: usize = 32;
    let small = |seed| -> Vec<f32> {
        noise(N * N, seed)
            .iter()
            .map(|word| (word % 64) as f32 - 32.0)
            .collect()
    };
    let (a, b) = (small(5), small(6));
    let mut c = vec![0f32; N * N];
    for row in 0..N {
        for col in 0..N {
            c[row * N + col] = (0..N).map(|k| a[row * N + k] * b[k * N + col]).sum();
        }
    }
    let mut case = Case::new("matmul", 2, 16)
        .floats(&a)
        .floats(&b)
        .fresh(4 * N * N)
        .gives_floats(&c)
        .number(32);
    case.grid = [2, 2, 1];
    case.block = [16, 16, 1];
    case
}

fn fibonacci() -> Case {
    fn fib(n: u32) -> u32 {
        if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
    }
    let results: Vec<u32> = (0..64).map(|i| fib(i % 13)).collect();
    Case::new("fibonacci", 1, 64).fresh(256).gives(&results)
}

fn ackermann() -> Case {
    fn ack(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ack(m - 1, 1),
            (m, n) => ack(m - 1, ack(m, n - 1)),
        }
    }
    let results: Vec<u32> = (0..32).map(|i| ack(i % 3, i % 5)).collect();
    Case::new("ackermann", 1, 32).fresh(128).gives(&results)
}

fn collatz() -> Case {
    let steps = |mut n: u32| {
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    let results: Vec<u32> = (1..=200).map(steps).collect();
    Case::new("collatz", 2, 100).fresh(800).gives(&results)
}

fn choose() -> Case {
    let x = noise(128, 8);
    let chosen = |v: &u32| match v % 8 {
        0 => v.wrapping_mul(3),
        1 => v.wrapping_add(7),
        2 => v ^ 0x55,
        3 => v << 2,
        4 => v / 3,
        5 => !v,
        6 => v.wrapping_mul(*v),
        _ => 1,
    };
    let results: Vec<u32> = x.iter().map(chosen).collect();
    Case::new("choose", 1, 128)
        .words(&x)
        .fresh(512)
        .gives(&results)
}

fn pointers() -> Case {
    let apply = |which: u32, x: u32| match which % 3 {
        0 => 2 * x,
        1 => x * x,
        _ => x + 1,
    };
    let results: Vec<u32> = (0..64).map(|i| apply(i, i) + apply(i / 3, 100)).collect();
    Case::new("pointers", 1, 64).fresh(256).gives(&results)
}

fn structures() -> Case {
    let mut mixed = vec![3u8, 0, 0, 0, 0, 0, 0, 0];
    mixed.extend(1.5f64.to_le_bytes());
    for value in [1f32, 2.0, 3.0] {
        mixed.extend(value.to_le_bytes());
    }
    mixed.extend(7i16.to_le_bytes());
    mixed.extend([0, 0]);
    let result = |t: u32| {
        let mut f = [1f64, 2.0, 3.0];
        f[t as usize % 3] *= 2.0;
        3.0 + (1.5 + f64::from(t)) + f[0] + 10.0 * f[1] + 100.0 * f[2] + (7.0 - f64::from(t))
    };
    let results: Vec<u8> = (0..40).flat_map(|t| result(t).to_le_bytes()).collect();
    let mut case = Case::new("structures", 1, 40).value(&mixed).fresh(320);
    case.results.push((1, results, Compare::Bits));
    case
}

fn tables() -> Case {
    let table = [3u32, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
    let x = noise(64, 10);
    let results: Vec<u32> = x.iter().map(|v| table[*v as usize % 16] + 1).collect();
    Case::new("tables", 1, 64)
        .words(&x)
        .fresh(256)
        .gives(&results)
}

fn local_arrays() -> Case {
    let x = noise(96, 11);
    let hashed = |v: &u32| {
        let mut seen: Vec<u32> = (0..16).collect();
        for i in 0..8 {
            let a = (v >> (4 * i) & 15) as usize;
            seen.swap(a, (a * 7 + i as usize) & 15);
        }
        seen.iter()
            .fold(0u32, |h, v| h.wrapping_mul(31).wrapping_add(*v))
    };
    let results: Vec<u32> = x.iter().map(hashed).collect();
    Case::new("local_arrays", 1, 96)
        .words(&x)
        .fresh(384)
        .gives(&results)
}

fn mandelbrot() -> Case {
    const WIDTH: u32 = 64;
    let mut results = Vec::new();
    for y in 0..WIDTH {
        for x in 0..WIDTH {
            let cr = (x as f32).mul_add(3.0 / WIDTH as f32, -2.0);
            let ci = (y as f32).mul_add(2.0 / WIDTH as f32, -1.0);
            let (mut zr, mut zi, mut i) = (0f32, 0f32, 0);
            while i < 64 && zr.mul_add(zr, zi * zi) < 4.0 {
                let t = (zr * zr - zi * zi) + cr;
                zi = (2.0 * zr) * zi + ci;
                zr = t;
                i += 1;
            }
            results.push(i);
        }
    }
    let mut case = Case::new("mandelbrot", 1, 1)
        .fresh(4 * 64 * 64)
        .gives(&results)
        .number(WIDTH);
    case.grid = [4, 8, 1];
    case.block = [16, 8, 1];
    case
}

fn crc() -> Case {
    let x: Vec<u8> = noise(64 * 20, 12).iter().map(|word| *word as u8).collect();
    let sum = |bytes: &[u8]| {
        let mut c = !0u32;
        for byte in bytes {
            c ^= u32::from(*byte);
            for _ in 0..8 {
                c = c >> 1 ^ if c & 1 == 1 { 0xEDB8_8320 } else { 0 };
            }
        }
        !c
    };
    let results: Vec<u32> = x.chunks(20).map(sum).collect();
    Case::new("crc", 1, 64)
        .bytes(&x)
        .fresh(256)
        .gives(&results)
        .number(20)
}

fn life() -> Case {
    const N: usize = 32;
    let x: Vec<u8> = noise(N * N, 13)
        .iter()
        .map(|word| (word >> 7 & 1) as u8)
        .collect();
    let mut y = vec![0u8; N * N];
    for (i, cell) in y.iter_mut().enumerate() {
        let mut count = 0;
        for step in 0..9 {
            let (r, c) = (
                (i / N + N + step / 3 - 1) % N,
                (i % N + N + step % 3 - 1) % N,
            );
            count += if step == 4 { 0 } else { x[r * N + c] };
        }
        *cell = u8::from(count == 3 || count == 2 && x[i] == 1);
    }
    let mut case = Case::new("life", 4, 256)
        .bytes(&x)
        .fresh(N * N)
        .number(N as u32);
    case.results.push((1, y, Compare::Bits));
    case
}

fn spmv() -> Case {
    let (mut rows, mut cols, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..100u32 {
        for k in 0..row % 7 {
            cols.push((row * 13 + k * 29) % 100);
            values.push((row + k) as f32 * 0.125);
        }
        rows.push(cols.len() as u32);
    }
    let x: Vec<f32> = (0..100).map(|i| (i % 9) as f32 - 4.0).collect();
    let y: Vec<f32> = (0..100)
        .map(|row| {
            let range = rows[row] as usize..rows[row + 1] as usize;
            range.fold(0f32, |sum, k| values[k].mul_add(x[cols[k] as usize], sum))
        })
        .collect();
    Case::new("spmv", 2, 64)
        .words(&rows)
        .words(&cols)
        .floats(&values)
        .floats(&x)
        .fresh(400)
        .gives_floats(&y)
        .number(100)
}

fn vectors() -> Case {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 1.5).collect();
    let y: Vec<f32> = x
        .chunks(4)
        .flat_map(|v| [v[3], v[2] * 2.0, v[1] - 1.0, v[0]])
        .collect();
    let s: Vec<u16> = noise(128, 14).iter().map(|word| *word as u16).collect();
    let o: Vec<u32> = s
        .chunks(4)
        .flat_map(|v| {
            [
                u32::from(v[0]) + u32::from(v[1]),
                u32::from(v[2]) << 16 | u32::from(v[3]),
            ]
        })
        .collect();
    let shorts: Vec<u8> = s.iter().flat_map(|short| short.to_le_bytes()).collect();
    Case::new("vectors", 1, 32)
        .floats(&x)
        .fresh(512)
        .gives_floats(&y)
        .bytes(&shorts)
        .fresh(256)
        .gives(&o)
}

fn hello() -> Case {
    let mut case = Case::new("hello", 1, 32).number(2);
    case.printed = "thread 0 of 32:  0.00|abc   |0xff|-5|x|1.234568e+04|0.0001\n\
                    thread 1 of 32:  0.50|abc   |0x100|-5|x|1.234568e+04|0.0001\n";
    case
}
