//! A graph as text.

use super::recorder::Recorded;
use super::regions::Reason;
use std::fmt::Write as _;

/// The nodes and edges in the language of Graphviz.
pub(super) fn text(nodes: &[Recorded<'_>]) -> String {
    let mut text = "digraph {\n".to_owned();
    for (index, node) in nodes.iter().enumerate() {
        let name = node.name.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string does not fail.
        let _ = writeln!(text, "    n{index} [label=\"{index}: {name}\"];");
        for edge in &node.edges {
            let reason = sentence(edge.reason);
            let _ = writeln!(text, "    n{} -> n{index} [label=\"{reason}\"];", edge.from);
        }
    }
    text.push_str("}\n");
    text
}

fn sentence(reason: Reason) -> String {
    match reason {
        Reason::ReadsWritten { address, bytes } => {
            format!("reads {bytes} bytes at {address:#x} after they were written")
        }
        Reason::WritesRead { address, bytes } => {
            format!("writes {bytes} bytes at {address:#x} after they were read")
        }
        Reason::WritesWritten { address, bytes } => {
            format!("writes {bytes} bytes at {address:#x} after they were written")
        }
        Reason::Told => "told".to_owned(),
    }
}
