//! A link as a picture that the camera of a phone reads: QR codes of ISO/IEC 18004, bytes at level M,
//! versions 1 to 9.

/// What a version holds: its alignment patterns, its bytes of correction per block, and its blocks
/// by their bytes of data.
struct QrVersion {
    centres: &'static [usize],
    correction: usize,
    blocks: &'static [usize],
}

const VERSIONS: [QrVersion; 9] = [
    QrVersion { centres: &[], correction: 10, blocks: &[16] },
    QrVersion { centres: &[6, 18], correction: 16, blocks: &[28] },
    QrVersion { centres: &[6, 22], correction: 26, blocks: &[44] },
    QrVersion { centres: &[6, 26], correction: 18, blocks: &[32, 32] },
    QrVersion { centres: &[6, 30], correction: 24, blocks: &[43, 43] },
    QrVersion { centres: &[6, 34], correction: 16, blocks: &[27, 27, 27, 27] },
    QrVersion { centres: &[6, 22, 38], correction: 18, blocks: &[31, 31, 31, 31] },
    QrVersion { centres: &[6, 24, 42], correction: 22, blocks: &[38, 38, 39, 39] },
    QrVersion { centres: &[6, 26, 46], correction: 22, blocks: &[36, 36, 36, 37, 37] },
];

/// The rows of the code, a `1` for each dark place; `None`: the text is too long.
pub(super) fn qr(text: &str) -> Option<Vec<String>> {
    let holds = |version: &QrVersion| version.blocks.iter().sum::<usize>() >= text.len() + 2;
    let number = VERSIONS.iter().position(holds)?;
    let version = VERSIONS.get(number)?;
    let bytes = codewords(version, text.as_bytes());
    let mut best: Option<(u32, QrGrid)> = None;
    for mask in 0..8 {
        let mut grid = QrGrid::of(number + 1, version);
        grid.write(&bytes, mask);
        grid.format(mask);
        let penalty = grid.penalty();
        if best.as_ref().is_none_or(|(least, _)| penalty < *least) {
            best = Some((penalty, grid));
        }
    }
    best.map(|(_, grid)| grid.rows())
}

/// Data and correction of all blocks, in the order in which they are written.
fn codewords(version: &QrVersion, text: &[u8]) -> Vec<u8> {
    let room: usize = version.blocks.iter().sum();
    // Four bits say that bytes come and eight how many; what is left of the last byte ends them.
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    let mut data = vec![0x40 | (length >> 4)];
    let mut rest = length << 4;
    for byte in text {
        data.push(rest | (byte >> 4));
        rest = byte << 4;
    }
    data.push(rest);
    data.extend([0xEC, 0x11].into_iter().cycle().take(room.saturating_sub(data.len())));
    let mut blocks = Vec::new();
    let mut left = data.as_slice();
    for size in version.blocks {
        let (block, rest) = left.split_at((*size).min(left.len()));
        blocks.push((block.to_vec(), correction(block, version.correction)));
        left = rest;
    }
    let longest = version.blocks.iter().max().copied().unwrap_or(0);
    let data = (0..longest).flat_map(|at| blocks.iter().filter_map(move |(data, _)| data.get(at)));
    let more = (0..version.correction)
        .flat_map(|at| blocks.iter().filter_map(move |(_, more)| more.get(at)));
    data.chain(more).copied().collect()
}

/// The product in the field of 256 elements that the code has (285).
fn times(left: u8, right: u8) -> u8 {
    let (mut product, mut left) = (0_u8, left);
    for bit in 0..8 {
        if right >> bit & 1 == 1 {
            product ^= left;
        }
        left = (left << 1) ^ if left & 0x80 == 0 { 0 } else { 0x1D };
    }
    product
}

/// The bytes by which a block is put right (Reed and Solomon).
fn correction(data: &[u8], count: usize) -> Vec<u8> {
    let mut generator = vec![0_u8; count.saturating_sub(1)];
    generator.push(1);
    let mut root = 1_u8;
    for _ in 0..count {
        let shifted = generator.iter().skip(1).copied().chain([0]);
        generator =
            generator.iter().zip(shifted).map(|(own, next)| times(*own, root) ^ next).collect();
        root = times(root, 2);
    }
    let mut rest = vec![0_u8; count];
    for byte in data {
        let factor = byte ^ rest.first().copied().unwrap_or(0);
        let shifted = rest.iter().skip(1).copied().chain([0]);
        rest = shifted.zip(&generator).map(|(own, part)| own ^ times(*part, factor)).collect();
    }
    rest
}

/// Five bits, protected by ten, as they are written: level M and the mask.
fn format_bits(mask: u32) -> u32 {
    let mut rest = mask;
    for _ in 0..10 {
        rest = (rest << 1) ^ ((rest >> 9) * 0x537);
    }
    (mask << 10 | rest) ^ 0x5412
}

/// Six bits, protected by twelve: the number of the version.
fn version_bits(version: usize) -> usize {
    let mut rest = version;
    for _ in 0..12 {
        rest = (rest << 1) ^ ((rest >> 11) * 0x1F25);
    }
    version << 12 | rest
}

/// The places of a code; `None`: nothing stands there yet.
struct QrGrid {
    size: usize,
    /// Row by row: whether a place is dark, and whether it is none of the data.
    places: Vec<(Option<bool>, bool)>,
}

impl QrGrid {
    /// With all that is the same for every text.
    fn of(number: usize, version: &QrVersion) -> Self {
        let size = 17 + 4 * number;
        let mut grid = Self { size, places: vec![(None, false); size * size] };
        for at in 0..size {
            grid.fix(6, at, at % 2 == 0);
            grid.fix(at, 6, at % 2 == 0);
        }
        let far = size - 7;
        for (row, column) in [(0, 0), (0, far), (far, 0)] {
            grid.corner(row, column);
        }
        let last = version.centres.last().copied().unwrap_or(0);
        for row in version.centres {
            for column in version.centres {
                let is_corner = (*row == 6 && (*column == 6 || *column == last))
                    || (*row == last && *column == 6);
                if !is_corner {
                    grid.square(*row, *column);
                }
            }
        }
        grid.format(0);
        if number >= 7 {
            let bits = version_bits(number);
            for at in 0..18 {
                let is_dark = bits >> at & 1 == 1;
                grid.fix(at / 3, size - 11 + at % 3, is_dark);
                grid.fix(size - 11 + at % 3, at / 3, is_dark);
            }
        }
        grid
    }

    fn fix(&mut self, row: usize, column: usize, is_dark: bool) {
        let at = row * self.size + column;
        if let Some(place) = self.places.get_mut(at).filter(|_| column < self.size) {
            *place = (Some(is_dark), true);
        }
    }

    fn is_dark(&self, row: usize, column: usize) -> bool {
        let place = self.places.get(row * self.size + column);
        place.is_some_and(|(is_dark, _)| *is_dark == Some(true))
    }

    /// What a camera finds the code by, with the light around it.
    fn corner(&mut self, top: usize, left: usize) {
        for row in 0..9_usize {
            for column in 0..9_usize {
                let away = row.abs_diff(4).max(column.abs_diff(4));
                let (row, column) = ((top + row).checked_sub(1), (left + column).checked_sub(1));
                if let (Some(row), Some(column)) = (row, column)
                    && row < self.size
                {
                    self.fix(row, column, away != 2 && away != 4);
                }
            }
        }
    }

    /// What shows how the code is bent.
    fn square(&mut self, row: usize, column: usize) {
        for down in 0..5_usize {
            for across in 0..5_usize {
                let away = down.abs_diff(2).max(across.abs_diff(2));
                self.fix(row + down - 2, column + across - 2, away != 1);
            }
        }
    }

    fn format(&mut self, mask: u32) {
        let (bits, last) = (format_bits(mask), self.size - 1);
        for at in 0..15 {
            let is_dark = bits >> at & 1 == 1;
            let (near, far) = match at {
                0..=5 => ((at, 8), (8, last - at)),
                6 => ((7, 8), (8, last - 6)),
                7 => ((8, 8), (8, last - 7)),
                8 => ((8, 7), (last - 6, 8)),
                _ => ((8, 14 - at), (last - 14 + at, 8)),
            };
            self.fix(near.0, near.1, is_dark);
            self.fix(far.0, far.1, is_dark);
        }
        self.fix(self.size - 8, 8, true);
    }

    /// The bits of the bytes, from the right to the left in columns of two, upwards and downwards.
    fn write(&mut self, bytes: &[u8], mask: u32) {
        let mut bits =
            bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
        let mut right = self.size - 1;
        let mut is_up = true;
        loop {
            for step in 0..self.size {
                let row = if is_up { self.size - 1 - step } else { step };
                for column in [right, right - 1] {
                    let at = row * self.size + column;
                    if let Some(place) = self.places.get_mut(at).filter(|(_, is_fixed)| !is_fixed) {
                        // What is left over is light.
                        let bit = bits.next().unwrap_or(false);
                        place.0 = Some(bit ^ is_masked(mask, row, column));
                    }
                }
            }
            is_up = !is_up;
            right = match right {
                // The column of the clock is passed over.
                8 => 5,
                0..=2 => return,
                other => other - 2,
            };
        }
    }

    /// How hard it is to read.
    fn penalty(&self) -> u32 {
        let (mut penalty, mut dark) = (0, 0_usize);
        for first in 0..self.size {
            for is_row in [true, false] {
                let line: Vec<bool> = (0..self.size)
                    .map(
                        |at| if is_row { self.is_dark(first, at) } else { self.is_dark(at, first) },
                    )
                    .collect();
                penalty += of_line(&line);
                if is_row {
                    dark += line.iter().filter(|is_dark| **is_dark).count();
                }
            }
        }
        for row in 1..self.size {
            for column in 1..self.size {
                let own = self.is_dark(row, column);
                let others = [(row - 1, column), (row, column - 1), (row - 1, column - 1)];
                if others.iter().all(|(row, column)| self.is_dark(*row, *column) == own) {
                    penalty += 3;
                }
            }
        }
        let share = 100 * dark / (self.size * self.size);
        penalty + 10 * u32::try_from(share.abs_diff(50) / 5).unwrap_or(0)
    }

    fn rows(&self) -> Vec<String> {
        let word = |row: usize| {
            (0..self.size).map(|column| if self.is_dark(row, column) { '1' } else { '0' }).collect()
        };
        (0..self.size).map(word).collect()
    }
}

/// Long runs of one kind, and what looks like a corner.
fn of_line(line: &[bool]) -> u32 {
    const CORNER: [bool; 11] =
        [true, false, true, true, true, false, true, false, false, false, false];
    let runs = line.chunk_by(|left, right| left == right).map(<[bool]>::len);
    let long = runs.filter(|run| *run >= 5).map(|run| u32::try_from(run - 2).unwrap_or(0));
    let looks = line
        .windows(11)
        .filter(|part| part.iter().eq(CORNER.iter()) || part.iter().eq(CORNER.iter().rev()));
    long.sum::<u32>() + 40 * u32::try_from(looks.count()).unwrap_or(0)
}

fn is_masked(mask: u32, row: usize, column: usize) -> bool {
    let product = row * column;
    0 == match mask {
        0 => (row + column) % 2,
        1 => row % 2,
        2 => column % 3,
        3 => (row + column) % 3,
        4 => (row / 2 + column / 3) % 2,
        5 => product % 2 + product % 3,
        6 => (product % 2 + product % 3) % 2,
        _ => ((row + column) % 2 + product % 3) % 2,
    }
}

#[cfg(test)]
mod tests;
