//! `ttng.subtiled_region`: a body that runs once a tile, one after the other.
//!
//! Its first operands are the values of each tile, grouped by argument, then come those that all
//! tiles share; an argument that is left over is the tile's number. Results are grouped likewise.
//! Source: the lowering of the op in the facebookexperimental fork.

use super::lowerer::Lowerer;
use super::value::Val;
use crate::limits::tensor_memory::TILES;
use ttgir::{OpId, Tree, ValueId};

/// How many tiles a subtiled region has, where that is followed.
pub(super) fn tiles(tree: &Tree, op: OpId) -> Option<usize> {
    let tiles = tree.attr(op, "numTiles").and_then(|attr| tree.attr_int(attr));
    tiles.and_then(|tiles| usize::try_from(tiles).ok()).filter(|tiles| (1..=TILES).contains(tiles))
}

/// What the arguments of its body are in one of its tiles; the tile's number is left out.
pub(super) fn values(tree: &Tree, op: OpId, tiles: usize, tile: usize) -> Vec<ValueId> {
    let (each, shared) = (tree.group(op, "perTileArgs"), tree.group(op, "sharedArgs"));
    each.chunks(tiles).filter_map(|values| values.get(tile)).chain(shared).copied().collect()
}

impl Lowerer<'_> {
    pub(super) fn subtiled_region(&mut self, op: OpId) {
        let tree = self.tree;
        self.forget(op);
        let tiles = tiles(tree, op);
        let block = tree.regions(op).first().and_then(|region| tree.blocks(*region).first()).copied();
        let (Some(tiles), Some(block)) = (tiles, block) else {
            return self.unmodelled(op, "its tiles are not known");
        };
        let results = tree.results(op);
        for tile in 0..tiles {
            self.tile = tile;
            let mut args = tree.block_args(block).iter();
            let values = values(tree, op, tiles, tile);
            for (value, &arg) in values.into_iter().zip(args.by_ref()) {
                self.rebind(arg, value);
            }
            if let Some(&number) = args.next() {
                let var = self.build.number(i64::try_from(tile).unwrap_or(0));
                self.bind(number, Val::Scalar(var));
            }
            let Some(end) = self.block(block) else { continue };
            for (&value, outcomes) in tree.operands(end).iter().zip(results.chunks(tiles)) {
                if let Some(&result) = outcomes.get(tile) {
                    self.rebind(result, value);
                }
            }
        }
        self.tile = 0;
    }
}
