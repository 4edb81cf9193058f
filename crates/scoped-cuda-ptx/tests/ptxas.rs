//! Whether ptxas and this package agree on what is PTX: on the texts of the tree, and on texts in
//! which a word was changed.
//!
//!     pip download --no-deps nvidia-cuda-nvcc    # and unzip the wheel
//!     export PTXAS=.../bin/ptxas ROUNDS=2000
//!     cargo test -p scoped-cuda-ptx --test ptxas -- --ignored --nocapture

mod common;

use common::{Device, Parameters};
use scoped_cuda_ptx::{Module, Shape};
use std::path::Path;
use std::process::Command;

/// A text is wrong here in so many rounds of a hundred, at most, when ptxas says otherwise.
const DISAGREEMENTS_MAX: usize = 8;

/// Texts that are short enough to be compiled often.
const TEXTS: [&str; 7] = [
    include_str!("../../../examples/saxpy.ptx"),
    include_str!("../../../examples/pipeline.ptx"),
    include_str!("../../../examples/smooth.ptx"),
    include_str!("../../../tests/common/kernels.ptx"),
    include_str!("../../../tests/common/launches.ptx"),
    include_str!("cuda/asynchronous.ptx"),
    include_str!("cuda/kernels.ptx"),
];

/// What ptxas says: nothing, or its first error.
fn judge(ptxas: &str, text: &str) -> Result<(), String> {
    let path = std::env::temp_dir().join(format!("scoped-cuda-ptx-{}.ptx", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let output = Command::new(ptxas)
        .args(["-arch=sm_90", "-O0", "-c", "-o", "/dev/null"])
        .arg(&path)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let name = path.display().to_string();
            Err(text.lines().next().unwrap_or("").replace(&name, ""))
        }
    }
}

/// A kernel or a function with what stands before the first one.
fn pieces(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    for line in text.lines() {
        let is_head = line.starts_with(".visible .entry") || line.starts_with(".entry");
        if is_head {
            parts.push(String::new());
        }
        let last = parts.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
    }
    let head = parts.remove(0);
    parts
        .into_iter()
        .map(|part| format!("{head}{part}"))
        .collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// The words of a text with what stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c);
    for (place, c) in text.char_indices() {
        let before = text[..place].chars().next_back();
        let is_new = c == '.' || !is_word(c) || before.is_some_and(|before| !is_word(before));
        if place > start && is_new {
            words.push(&text[start..place]);
            start = place;
        }
    }
    words.push(&text[start..]);
    words
}

/// The text with one thing changed within a function's body.
fn changed(text: &str, random: &mut Random) -> String {
    const OTHERS: [&str; 28] = [
        ".u32", ".s32", ".b32", ".f32", ".u64", ".b64", ".f64", ".u16", ".pred", ".global",
        ".shared", ".local", ".rn", ".sat", ".ftz", ".lo", ".wide", "%r1", "%rd1", "%f1", "%p1",
        "0", "1.5", ";", ",", "add", "mov", "[",
    ];
    let mut all = words(text);
    let body = all.iter().position(|word| *word == "{").unwrap_or(0);
    loop {
        let place = body + random.below(all.len() - body);
        if all[place].trim().is_empty() {
            continue;
        }
        match random.below(4) {
            0 => {
                all.remove(place);
            }
            1 => {
                let other = body + random.below(all.len() - body);
                all.swap(place, other);
            }
            2 => {
                let other = all[body + random.below(all.len() - body)];
                all[place] = other;
            }
            _ => all[place] = OTHERS[random.below(OTHERS.len())],
        }
        return all.concat();
    }
}

#[test]
#[ignore = "it needs ptxas"]
fn ptxas_agrees() {
    let ptxas = std::env::var("PTXAS").expect("PTXAS names ptxas");
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let (rounds, mut random) = (rounds.unwrap_or(200), Random(seed.unwrap_or(1)));
    assert!(Path::new(&ptxas).exists());
    let mut texts: Vec<String> = TEXTS.iter().flat_map(|text| pieces(text)).collect();
    texts.retain(|text| text.lines().count() < 200 && judge(&ptxas, text).is_ok());
    assert!(texts.len() > 20, "only {} texts are left", texts.len());
    for text in &texts {
        assert!(
            Module::parse(text).is_ok(),
            "{}",
            Module::parse(text).err().unwrap()
        );
    }
    let mut wrong = 0;
    for _ in 0..rounds {
        let text = changed(&texts[random.below(texts.len())], &mut random);
        let line = |number: u32| {
            text.lines()
                .nth(number.max(1) as usize - 1)
                .unwrap_or("")
                .trim()
                .to_owned()
        };
        match (Module::parse(&text), judge(&ptxas, &text)) {
            (Ok(_), Ok(())) | (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => {
                wrong += 1;
                let number = error.split("line ").nth(1).and_then(|rest| {
                    rest.split(';')
                        .next()
                        .and_then(|number| number.trim().parse().ok())
                });
                println!("accepted: {} | {error}", line(number.unwrap_or(1)));
            }
            (Err(error), Ok(())) => {
                wrong += 1;
                println!("refused:  {} | {error}", line(error.line));
            }
        }
    }
    println!("{wrong} disagreements in {rounds} rounds");
    assert!(
        wrong * 100 <= DISAGREEMENTS_MAX * rounds,
        "{wrong} disagreements in {rounds} rounds"
    );
}

/// Whatever is changed, reading ends without a panic. Ten changes at once go further astray.
#[test]
fn no_text_is_too_strange() {
    let mut random = Random(7);
    let texts: Vec<String> = TEXTS.iter().flat_map(|text| pieces(text)).collect();
    let mut read = 0;
    for _ in 0..600 {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(3) * 5 {
            text = changed(&text, &mut random);
        }
        if Module::parse(&text).is_ok() {
            read += 1;
        }
        let end = random.below(text.len());
        let cut = (end..text.len())
            .find(|place| text.is_char_boundary(*place))
            .unwrap_or(0);
        let _ = Module::parse(&text[..cut]);
    }
    assert!(read > 20, "only {read} texts were read");
}

/// Whatever is changed, a kernel that is simulated ends, with a finding perhaps.
#[test]
fn no_kernel_is_too_strange() {
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut random = Random(seed.unwrap_or(11));
    let texts: Vec<String> = TEXTS.iter().flat_map(|text| pieces(text)).collect();
    let (mut ended, mut found) = (0, 0);
    for _ in 0..rounds.unwrap_or(500) {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(3) {
            text = changed(&text, &mut random);
        }
        let Ok(module) = Module::parse(&text) else {
            continue;
        };
        let names: Vec<String> = module
            .kernels()
            .map(|kernel| kernel.name().to_owned())
            .collect();
        for name in names
            .iter()
            .filter(|name| module.check_supported(name).is_ok())
        {
            let mut device = Device::new(&text);
            device.steps_max = 1 << 12;
            let mut parameters = Parameters::new();
            for _ in 0..16 {
                let place = device.upload(&[random.below(200) as u8; 4096], "bytes");
                parameters = parameters.pointer(place);
            }
            let shape = Shape {
                is_cooperative: random.below(2) == 0,
                cluster: [1 + random.below(2) as u32, 1, 1],
                ..Shape::linear(4, 40).with_shared(512)
            };
            match device.launch(name, shape, parameters) {
                Ok(()) => ended += 1,
                Err(finding) => {
                    assert!(!finding.to_string().is_empty());
                    found += 1;
                }
            }
        }
    }
    assert!(
        ended > 5 && found > 1,
        "{ended} ended, {found} had findings"
    );
}
