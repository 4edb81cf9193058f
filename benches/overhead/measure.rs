//! Batches in turns, medians, goals.

use crate::allocations;
use scoped_cuda::Result;
use std::time::Instant;

/// What one operation cost in a batch.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    nanoseconds: f64,
    allocations: f64,
}

/// Runs `operation` `n` times and stops at its first error.
pub(crate) fn repeat(n: usize, mut operation: impl FnMut() -> Result<()>) -> Result<Sample> {
    let allocated = allocations::count();
    let start = Instant::now();
    for _ in 0..n {
        operation()?;
    }
    let elapsed = start.elapsed();
    let allocated = allocations::count() - allocated;
    Ok(Sample {
        nanoseconds: elapsed.as_nanos() as f64 / n as f64,
        allocations: allocated as f64 / n as f64,
    })
}

/// How often things are measured on a driver.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    rounds: usize,
    is_null: bool,
}

/// Operations in a batch of the null driver, where there is no queue to fill: long beside the
/// clock, short beside the scheduler.
const NULL_BATCH: usize = 2_000;

impl Rounds {
    pub(crate) fn null(quick: bool) -> Self {
        Self {
            rounds: if quick { 50 } else { 300 },
            is_null: true,
        }
    }

    pub(crate) fn real(quick: bool) -> Self {
        Self {
            rounds: if quick { 30 } else { 200 },
            is_null: false,
        }
    }

    /// Whether the driver is the null driver.
    pub(crate) fn is_null(self) -> bool {
        self.is_null
    }

    /// Rounds for a number of threads: a round is long there.
    pub(crate) fn of_threads(self) -> usize {
        self.rounds.div_ceil(5)
    }

    /// The plan for an operation with batches of `batch` on a real driver.
    pub(crate) fn of(self, batch: usize) -> Plan {
        Plan {
            rounds: self.rounds,
            batch: if self.is_null { NULL_BATCH } else { batch },
        }
    }
}

/// How often one operation is measured.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    rounds: usize,
    batch: usize,
}

impl Plan {
    /// Measures batches of `raw` and of `ours` in turns; which of them goes first alternates too.
    pub(crate) fn compare(
        self,
        mut raw: impl FnMut(usize) -> Result<Sample>,
        mut ours: impl FnMut(usize) -> Result<Sample>,
    ) -> Result<Comparison> {
        let warm_up = self.rounds.div_ceil(10);
        let mut pairs = Vec::with_capacity(self.rounds);
        for round in 0..warm_up + self.rounds {
            let pair = if round % 2 == 0 {
                let raw = raw(self.batch)?;
                (raw, ours(self.batch)?)
            } else {
                let ours = ours(self.batch)?;
                (raw(self.batch)?, ours)
            };
            if round >= warm_up {
                pairs.push(pair);
            }
        }
        Ok(Comparison::of(&pairs))
    }
}

/// Medians over the rounds.
pub(crate) struct Comparison {
    raw: f64,
    ours: f64,
    /// Of each round's ratio and difference, so that a drift over the run falls out.
    ratio: f64,
    difference: f64,
    allocations: f64,
}

pub(crate) const HEADER: &str = "\
operation                                      raw ns    crate ns   ratio  crate - raw  heap/op  goal
-----------------------------------------------------------------------------------------------------------";

impl Comparison {
    fn of(pairs: &[(Sample, Sample)]) -> Self {
        let median_of = |value: fn(&Sample, &Sample) -> f64| {
            median(pairs.iter().map(|(a, b)| value(a, b)).collect())
        };
        Self {
            raw: median_of(|raw, _| raw.nanoseconds),
            ours: median_of(|_, ours| ours.nanoseconds),
            ratio: median_of(|raw, ours| ours.nanoseconds / raw.nanoseconds),
            difference: median_of(|raw, ours| ours.nanoseconds - raw.nanoseconds),
            allocations: median_of(|_, ours| ours.allocations),
        }
    }

    pub(crate) fn row(&self, name: &str, verdict: &Verdict) -> String {
        let Self {
            raw,
            ours,
            ratio,
            difference,
            allocations,
        } = self;
        let text = &verdict.text;
        format!(
            "{name:<42}{raw:>11.1} {ours:>11.1} {ratio:>7.3} {difference:>12.1} {allocations:>8.1}  {text}"
        )
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What the project asks of an operation.
pub(crate) enum Goal {
    /// Nothing: the row is there to be known.
    Informative,
    /// Real driver: at most 1.02 of raw. Null driver: less than 30 ns over raw, and no heap
    /// allocation.
    Thin,
    /// Real driver: at most so many times raw, which for a large copy is its bandwidth.
    Same(f64),
    /// Real driver: at least so many times faster than raw.
    Faster(f64),
    /// Real driver: at most so many nanoseconds, whatever raw takes.
    Within(f64),
    /// At most so many nanoseconds over raw, and no heap allocation.
    Over(f64),
}

pub(crate) struct Verdict {
    text: String,
    is_met: bool,
}

impl Verdict {
    pub(crate) fn is_missed(&self) -> bool {
        !self.is_met
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn of(is_met: bool, goal: &str) -> Self {
        Self {
            text: format!("{} ({goal})", if is_met { "met" } else { "MISSED" }),
            is_met,
        }
    }
}

impl Goal {
    pub(crate) fn judge(&self, rounds: Rounds, comparison: &Comparison) -> Verdict {
        match self {
            Self::Thin if rounds.is_null => {
                let is_met = comparison.difference < 30.0 && comparison.allocations == 0.0;
                Verdict::of(is_met, "< 30 ns, no heap")
            }
            Self::Thin => Verdict::of(comparison.ratio <= 1.02, "<= 1.02"),
            Self::Same(times) if !rounds.is_null => {
                Verdict::of(comparison.ratio <= *times, &format!("<= {times}"))
            }
            Self::Faster(times) if !rounds.is_null => {
                let faster = 1.0 / comparison.ratio;
                Verdict::of(
                    faster >= *times,
                    &format!("{faster:.1} times faster, >= {times}"),
                )
            }
            Self::Within(most) if !rounds.is_null => {
                Verdict::of(comparison.ours <= *most, &format!("<= {most} ns"))
            }
            Self::Over(most) => Verdict::of(
                comparison.difference <= *most,
                &format!("<= {most} ns over"),
            ),
            Self::Informative | Self::Same(_) | Self::Faster(_) | Self::Within(_) => Verdict {
                text: String::new(),
                is_met: true,
            },
        }
    }
}
