//! What an error about a launch names.

use std::fmt;

/// The part of a launch configuration that [`Error::BadLaunch`](crate::Error::BadLaunch) is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[allow(missing_docs)] // x, y and z
pub enum LaunchField {
    GridX,
    GridY,
    GridZ,
    BlockX,
    BlockY,
    BlockZ,
    /// The product of the block's dimensions.
    ThreadsPerBlock,
    /// Dynamic shared memory of a block, in bytes.
    SharedBytes,
    /// All blocks of a cooperative launch, which run at once.
    CooperativeBlocks,
    ClusterX,
    ClusterY,
    ClusterZ,
    /// The product of the cluster's dimensions.
    BlocksPerCluster,
}

impl LaunchField {
    /// Along x, y and z.
    pub(crate) const GRID: [Self; 3] = [Self::GridX, Self::GridY, Self::GridZ];
    /// Along x, y and z.
    pub(crate) const BLOCK: [Self; 3] = [Self::BlockX, Self::BlockY, Self::BlockZ];
    /// Along x, y and z.
    pub(crate) const CLUSTER: [Self; 3] = [Self::ClusterX, Self::ClusterY, Self::ClusterZ];

    /// The beginning of the range that ends with the limit, for messages.
    pub(super) fn range(self) -> &'static str {
        match self {
            Self::SharedBytes => "at most",
            _ => "1 to",
        }
    }
}

impl fmt::Display for LaunchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GridX => "the grid's x dimension",
            Self::GridY => "the grid's y dimension",
            Self::GridZ => "the grid's z dimension",
            Self::BlockX => "the block's x dimension",
            Self::BlockY => "the block's y dimension",
            Self::BlockZ => "the block's z dimension",
            Self::ThreadsPerBlock => "the number of threads in a block",
            Self::SharedBytes => "the dynamic shared memory of a block in bytes",
            Self::CooperativeBlocks => "the number of blocks in a cooperative grid",
            Self::ClusterX => "the cluster's x dimension",
            Self::ClusterY => "the cluster's y dimension",
            Self::ClusterZ => "the cluster's z dimension",
            Self::BlocksPerCluster => "the number of blocks in a cluster",
        })
    }
}
