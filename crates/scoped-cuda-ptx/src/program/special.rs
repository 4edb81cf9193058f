//! Special registers.

/// A register that the machine fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    /// x, y or z.
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    ClusterId(usize),
    ClusterCount(usize),
    /// The block's place in its cluster.
    ClusterCtaid(usize),
    ClusterNctaid(usize),
    ClusterRank,
    ClusterSize,
    IsExplicitCluster,
    Lane,
    Warp,
    WarpCount,
    Multiprocessor,
    MultiprocessorCount,
    Grid,
    LanesEqual,
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
    DynamicShared,
    TotalShared,
    ReservedShared,
    /// An environment register; cooperative groups find their workspace in 1 and 2.
    Environment(u32),
    GraphExec,
}

/// The registers that change while a warp runs.
pub(crate) const CLOCKS: [&str; 6] = [
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
];

impl Special {
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (base, component) = match name.split_once('.') {
            Some((base, component)) => (base, Some("xyzw".find(component)?)),
            None => (name, None),
        };
        if let Some(axis) = component {
            return Some(match base {
                "%tid" => Self::Tid(axis),
                "%ntid" => Self::Ntid(axis),
                "%ctaid" => Self::Ctaid(axis),
                "%nctaid" => Self::Nctaid(axis),
                "%clusterid" => Self::ClusterId(axis),
                "%nclusterid" => Self::ClusterCount(axis),
                "%cluster_ctaid" => Self::ClusterCtaid(axis),
                "%cluster_nctaid" => Self::ClusterNctaid(axis),
                _ => return None,
            });
        }
        Some(match base {
            "%laneid" => Self::Lane,
            "%warpid" => Self::Warp,
            "%nwarpid" => Self::WarpCount,
            "%smid" => Self::Multiprocessor,
            "%nsmid" => Self::MultiprocessorCount,
            "%gridid" => Self::Grid,
            "%lanemask_eq" => Self::LanesEqual,
            "%lanemask_lt" => Self::LanesBelow,
            "%lanemask_le" => Self::LanesUpTo,
            "%lanemask_gt" => Self::LanesAbove,
            "%lanemask_ge" => Self::LanesFrom,
            "%dynamic_smem_size" => Self::DynamicShared,
            "%total_smem_size" => Self::TotalShared,
            "%reserved_smem_offset_begin" | "%reserved_smem_offset_end" => Self::ReservedShared,
            "%cluster_ctarank" => Self::ClusterRank,
            "%cluster_nctarank" => Self::ClusterSize,
            "%is_explicit_cluster" => Self::IsExplicitCluster,
            "%current_graph_exec" => Self::GraphExec,
            _ => Self::Environment(
                base.strip_prefix("%envreg")?
                    .parse()
                    .ok()
                    .filter(|n| *n < 32)?,
            ),
        })
    }
}
