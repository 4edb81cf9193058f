//! Waits that end.

use crate::error::Result;
use std::thread;
use std::time::{Duration, Instant};

/// How often a question is asked before the thread sleeps in between.
const EAGER: u32 = 200;
/// The longest sleep between two questions.
const LONGEST: Duration = Duration::from_micros(200);

/// Asks until the answer is yes, or for as long as `limit`; says whether it was. It is asked once
/// in any case.
///
/// The driver has no wait with a limit. Short work is met by asking again at once, long work by
/// asking at intervals that grow to a fifth of a millisecond.
pub(crate) fn ask_for(limit: Duration, mut ask: impl FnMut() -> Result<bool>) -> Result<bool> {
    let begin = Instant::now();
    let (mut asked, mut sleep) = (0, Duration::from_micros(5));
    loop {
        if ask()? {
            return Ok(true);
        }
        let left = limit.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        if asked < EAGER {
            asked += 1;
            thread::yield_now();
        } else {
            thread::sleep(sleep.min(left));
            sleep = (sleep * 2).min(LONGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn the_answer_ends_the_wait() {
        let mut answers = [false, false, true].into_iter();
        let mut ask = || Ok(answers.next().unwrap());
        assert_eq!(ask_for(Duration::MAX, &mut ask), Ok(true));
        let mut asked = 0;
        let mut ask = || {
            asked += 1;
            Ok(false)
        };
        assert_eq!(ask_for(Duration::ZERO, &mut ask), Ok(false));
        assert_eq!(asked, 1);
        assert_eq!(
            ask_for(Duration::MAX, || Err(Error::NoDevice)),
            Err(Error::NoDevice)
        );
    }
}
