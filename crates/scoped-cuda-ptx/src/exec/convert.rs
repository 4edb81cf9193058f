//! Conversions that have no function of their own.

use super::lanes::{Args, Registers, WARP};
use crate::program::convert::Convert;

/// Converts all lanes. `q` and `c` tell whether the destination and the source have 64 bits.
pub(crate) fn run(r: &mut Registers, convert: &Convert, x: &Args, mask: u32) {
    let from = match x.c {
        0 => r.word(x.a).map(u64::from),
        _ => *r.long(x.a),
    };
    let mut to = from.map(|bits| convert.apply(bits));
    if convert.is_pair {
        let second = r.word(x.b);
        for (to, second) in to.iter_mut().zip(second) {
            *to = *to << 16 | convert.apply(u64::from(*second)) & 0xFFFF;
        }
    }
    match x.q {
        0 => {
            let mut words = [0; WARP];
            for (word, bits) in words.iter_mut().zip(to) {
                *word = bits as u32;
            }
            r.set_words(x.d, &words, mask);
        }
        _ => r.set_longs(x.d, &to, mask),
    }
}
