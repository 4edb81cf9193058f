use super::op::*;
pub(crate) fn name(op: &Op) -> String { match op { Op::Plain(_, a) => format!("plain {a:?}"), Op::Branch(t) => format!("bra {t}"), Op::Load(a) => format!("ld {a:?}"), Op::Store(a) => format!("st {a:?}"), Op::Return => "ret".into(), Op::Exit => "exit".into(), _ => "other".into() } }
