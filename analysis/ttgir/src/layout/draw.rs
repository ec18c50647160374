//! Layouts as small text pictures.

use super::owners::Tile;
use super::shared::Swizzle;

/// Cells that are drawn down and across before some are left out.
const DOWN: i64 = 10;
const ACROSS: i64 = 8;

/// Which thread of which warp holds which cell of a tile, as `w0:t5`.
pub(super) fn owners(tile: &Tile) -> String {
    let [rows, columns] = tile.shape;
    let [cell_rows, cell_columns] = tile.cell.map(|size| size.max(1));
    let [warp_rows, warp_columns] = tile.warp;
    let down = picks(rows / cell_rows, warp_rows, DOWN);
    let across = picks(columns / cell_columns, warp_columns, ACROSS);
    let mut lines: Vec<Vec<String>> = Vec::new();
    let column_of = |cell: &Option<i64>| cell.map_or("…".to_owned(), |cell| (cell * cell_columns).to_string());
    lines.push(std::iter::once(String::new()).chain(across.iter().map(column_of)).collect());
    for row in &down {
        let Some(row) = row else {
            lines.push(vec!["…".to_owned()]);
            continue;
        };
        let row = row * cell_rows;
        let cells = across.iter().map(|column| {
            let Some(column) = column else { return "…".to_owned() };
            let owner = tile.owner(row, column * cell_columns);
            owner.map_or_else(|| "?".to_owned(), |owner| format!("w{}:t{}", owner.warp, owner.lane))
        });
        lines.push(std::iter::once(row.to_string()).chain(cells).collect());
    }
    aligned(&lines)
}

/// Which chunk of a row lies where, row by row until the pattern repeats.
pub(super) fn swizzle(pattern: &Swizzle) -> String {
    let rows = (pattern.per_phase * pattern.max_phase).max(1);
    let chunks = pattern.chunks.max(1);
    let down = picks(rows, 0, 16);
    let across = picks(chunks, 0, 16);
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in down {
        let Some(row) = row else {
            lines.push(vec!["…".to_owned()]);
            continue;
        };
        let cells = across.iter().map(|place| match place {
            Some(place) => pattern.chunk_at(row, *place).to_string(),
            None => "…".to_owned(),
        });
        lines.push(std::iter::once(format!("row {row}:")).chain(cells).collect());
    }
    aligned(&lines)
}

/// Numbers of cells to draw of `count`: all, or the first ones of each group and the last; `None` where some are left
/// out. `group` cells belong together, 0 where none do.
fn picks(count: i64, group: i64, most: i64) -> Vec<Option<i64>> {
    if count <= most {
        return (0..count.max(0)).map(Some).collect();
    }
    let grouped = group > 1 && group < count && count / group <= most / 2;
    let last = count - 1;
    let mut wanted: Vec<i64> = if grouped {
        (0..=last / group).flat_map(|at| [at * group, at * group + 1]).filter(|at| *at < last).collect()
    } else {
        (0..most - 2).collect()
    };
    wanted.push(last);
    let mut picks: Vec<Option<i64>> = Vec::new();
    for at in wanted {
        if picks.last().is_some_and(|last| last.is_some_and(|last| last + 1 < at)) {
            picks.push(None);
        }
        picks.push(Some(at));
    }
    picks
}

/// Cells in columns, flush right.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let lines = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| {
            let padding = width.saturating_sub(cell.chars().count());
            format!("{:padding$}{cell}", "")
        });
        cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    fn drawn(text: &str) -> String {
        owners(&Tile::of(&read(text, &|_| None).expect("a layout")).expect("a tile"))
    }

    #[test]
    fn a_small_tile_is_drawn_whole() {
        let drawn = drawn(
            "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], warpsPerCTA = [2, 1], order = [1, 0]}>",
        );
        assert_eq!(drawn, "      0     2\n0 w0:t0 w0:t1\n1 w0:t2 w0:t3\n2 w1:t0 w1:t1\n3 w1:t2 w1:t3");
    }

    #[test]
    fn of_a_large_tile_the_start_of_each_warp_is_drawn() {
        let drawn = drawn(
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>",
        );
        let expected = "        0      8     16     24\n 0  w0:t0  w0:t1  w0:t2  w0:t3\n 1  w0:t4  w0:t5  w0:t6  w0:t7\n …\n \
                        8  w1:t0  w1:t1  w1:t2  w1:t3\n 9  w1:t4  w1:t5  w1:t6  w1:t7\n …\n\
                        16  w2:t0  w2:t1  w2:t2  w2:t3\n17  w2:t4  w2:t5  w2:t6  w2:t7\n …\n\
                        24  w3:t0  w3:t1  w3:t2  w3:t3\n25  w3:t4  w3:t5  w3:t6  w3:t7\n …\n\
                        31 w3:t28 w3:t29 w3:t30 w3:t31";
        assert_eq!(drawn, expected);
    }

    /// Numbers out of a text: a pattern of four thousand million rows is drawn as quickly as one of sixteen.
    #[test]
    fn only_what_is_drawn_is_gone_through() {
        let text = "#ttg.swizzled_shared<{vec = 8, perPhase = 65536, maxPhase = 65536, order = [1, 0]}>";
        let spec = read(text, &|_| None).expect("a layout");
        let drawn = swizzle(&Swizzle::of_swizzled(&spec, None).expect("it is swizzled"));
        assert_eq!(drawn.lines().count(), 16, "{drawn}");
        assert_eq!(drawn.lines().last().map(|line| line.starts_with("row 4294967295:")), Some(true), "{drawn}");
        assert_eq!(picks(i64::MAX, i64::MAX / 4, DOWN).len(), 15);
    }
}
