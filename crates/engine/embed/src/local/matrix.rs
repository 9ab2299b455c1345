//! Products of matrices, as an encoder needs them: many rows against numbers that stay the same.
//!
//! What stays is kept in panels of sixteen columns, so that the innermost loop reads memory in one
//! direction; a general library packs it anew for each product, which for the few rows of a
//! question costs more than the product.

use fearless_simd::{Level, Simd, SimdBase as _, SimdFloat as _, dispatch, f32x16};

/// Columns of a panel.
pub(crate) const PANEL: usize = 16;
/// Rows that are worked on together: with a panel they fill the registers of AVX2.
const ROWS: usize = 6;
/// Steps of the innermost loop, after which some lines of the next panel are fetched: so many that
/// the seven blocks of a question of forty tokens fetch all of it.
const STEPS: usize = 48;
const LINES: usize = 7;

/// A matrix of `depth` rows, in panels of columns; the last panel is filled up with zeros.
#[derive(Debug, Default)]
pub(crate) struct PackedMatrix {
    depth: usize,
    panels: Vec<f32>,
}

impl PackedMatrix {
    /// From its columns, each with `depth` numbers.
    pub(crate) fn new<'n>(depth: usize, columns: impl IntoIterator<Item = &'n [f32]>) -> Self {
        let mut packed = Self { depth, panels: Vec::new() };
        let mut count = 0;
        for (at, column) in columns.into_iter().enumerate() {
            let panel = at / PANEL * depth * PANEL;
            packed.panels.resize(panel + depth * PANEL, 0.0);
            let places = packed.panels.iter_mut().skip(panel + at % PANEL).step_by(PANEL);
            places.zip(column).for_each(|(place, number)| *place = *number);
            count = at + 1;
        }
        debug_assert_eq!(packed.width(), count.next_multiple_of(PANEL), "no column is lost");
        packed
    }

    /// From its rows, each with `width` numbers, into the memory of another.
    pub(crate) fn refill<'n>(
        &mut self,
        width: usize,
        rows: impl ExactSizeIterator<Item = &'n [f32]>,
    ) {
        self.depth = rows.len();
        self.panels.clear();
        self.panels.resize(self.depth * width.next_multiple_of(PANEL), 0.0);
        let panel = (self.depth * PANEL).max(1);
        for (at, row) in rows.enumerate() {
            let places = self.panels.chunks_mut(panel).zip(row.chunks(PANEL));
            for (place, numbers) in places {
                let place = place.iter_mut().skip(at * PANEL);
                place.zip(numbers).for_each(|(place, number)| *place = *number);
            }
        }
    }

    /// Rows, and so the numbers of a row that it multiplies.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Columns with those that were filled up.
    pub(crate) fn width(&self) -> usize {
        self.panels.len().checked_div(self.depth).unwrap_or_default()
    }
}

/// Rows in the order in which the innermost loop reads them.
#[derive(Debug, Default)]
pub(crate) struct PackedRows {
    depth: usize,
    blocks: Vec<f32>,
}

impl PackedRows {
    /// Takes rows of `depth` numbers; what they had before is gone.
    pub(crate) fn refill<'n>(
        &mut self,
        depth: usize,
        rows: impl ExactSizeIterator<Item = &'n [f32]>,
    ) {
        self.depth = depth;
        self.blocks.clear();
        self.blocks.resize(rows.len() * depth, 0.0);
        let mut rows = rows;
        for block in self.blocks.chunks_mut((ROWS * depth).max(1)) {
            let count = block.len() / depth.max(1);
            for (at, row) in rows.by_ref().take(count).enumerate() {
                let places = block.iter_mut().skip(at).step_by(count);
                places.zip(row).for_each(|(place, number)| *place = *number);
            }
        }
    }
}

/// Each row of `left` times `right`, plus `bias` if it is not empty; `out` has rows of
/// `right.width()` numbers.
pub(crate) fn multiply(
    level: Level,
    left: &PackedRows,
    right: &PackedMatrix,
    bias: &[f32],
    out: &mut [f32],
) {
    dispatch!(level, simd => panels(simd, left, right, bias, out));
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
fn panels<S: Simd>(
    simd: S,
    left: &PackedRows,
    right: &PackedMatrix,
    bias: &[f32],
    out: &mut [f32],
) {
    let (depth, width) = (right.depth.max(1), right.width().max(1));
    simd.vectorize(
        #[inline(always)]
        || {
            let lines = right.panels.as_chunks::<PANEL>().0;
            for (at, panel) in right.panels.chunks_exact(depth * PANEL).enumerate() {
                let column = at * PANEL;
                let next = lines.get((at + 1) * depth..).unwrap_or_default();
                let next = &mut next.iter().take(depth);
                let start = bias.get(column..column + PANEL);
                let start =
                    start.map_or(f32x16::splat(simd, 0.0), |it| f32x16::from_slice(simd, it));
                let blocks = left.blocks.chunks(depth * ROWS);
                for (block, rows) in blocks.zip(out.chunks_mut(width * ROWS)) {
                    let place = TileOutput { rows, width, column };
                    match block.len() / depth {
                        6 => tile::<_, 6>(simd, start, (block, panel), next, place),
                        5 => tile::<_, 5>(simd, start, (block, panel), next, place),
                        4 => tile::<_, 4>(simd, start, (block, panel), next, place),
                        3 => tile::<_, 3>(simd, start, (block, panel), next, place),
                        2 => tile::<_, 2>(simd, start, (block, panel), next, place),
                        _ => tile::<_, 1>(simd, start, (block, panel), next, place),
                    }
                }
            }
        },
    );
}

/// Where a tile goes.
struct TileOutput<'o> {
    rows: &'o mut [f32],
    width: usize,
    column: usize,
}

/// `R` rows times one panel. Every number is summed up in the same order whatever `R` is, so that a
/// text has the same vector in every company.
///
/// The numbers of a model are more than a processor keeps near, and it computes while they come
/// only if they are asked for early: that is all that `next` is read for.
#[inline(always)]
#[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
fn tile<'n, S: Simd, const R: usize>(
    simd: S,
    start: f32x16<S>,
    (block, panel): (&[f32], &[f32]),
    next: &mut impl Iterator<Item = &'n [f32; PANEL]>,
    place: TileOutput<'_>,
) {
    let mut sums = [start; R];
    let mut fetched = 0;
    for (panel, block) in panel.chunks(STEPS * PANEL).zip(block.chunks(STEPS * R)) {
        for [first, ..] in next.take(LINES) {
            fetched ^= first.to_bits();
        }
        for (columns, rows) in panel.as_chunks::<PANEL>().0.iter().zip(block.as_chunks::<R>().0) {
            let columns = f32x16::from_slice(simd, columns);
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = f32x16::splat(simd, *row).mul_add(columns, *sum);
            }
        }
    }
    std::hint::black_box(fetched);
    let TileOutput { rows, width, column } = place;
    for (row, sum) in rows.chunks_mut(width).zip(sums) {
        if let Some(place) = row.get_mut(column..column + PANEL) {
            sum.store_slice(place);
        }
    }
}
