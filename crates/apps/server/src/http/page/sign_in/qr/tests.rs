use super::{QrGrid, VERSIONS, codewords, correction, format_bits, is_masked, qr, version_bits};

#[test]
fn a_block_is_put_right_by_the_bytes_that_the_standard_gives() {
    // "HELLO WORLD" in a code of version 1 at level M.
    let data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    let expected = [196, 35, 39, 119, 235, 215, 231, 226, 93, 23];
    assert_eq!(correction(&data, 10), expected);
}

#[test]
fn what_says_how_a_code_is_read_is_what_the_standard_gives() {
    // Of level M, by the mask.
    let formats = [
        0b101_0100_0001_0010,
        0b101_0001_0010_0101,
        0b101_1110_0111_1100,
        0b101_1011_0100_1011,
        0b100_0101_1111_1001,
        0b100_0000_1100_1110,
        0b100_1111_1001_0111,
        0b100_1010_1010_0000,
    ];
    for (mask, expected) in (0..).zip(formats) {
        assert_eq!(format_bits(mask), expected, "{mask}");
    }
    assert_eq!(version_bits(7), 0b00_0111_1100_1001_0100);
    assert_eq!(version_bits(9), 0b00_1001_1010_1001_1001);
}

#[test]
fn every_version_has_as_many_places_as_it_has_bits() {
    for (number, version) in (1..).zip(&VERSIONS) {
        let grid = QrGrid::of(number, version);
        let free = grid.places.iter().filter(|(_, is_fixed)| !is_fixed).count();
        let bytes =
            version.blocks.iter().sum::<usize>() + version.blocks.len() * version.correction;
        let over = if (2..=6).contains(&number) { 7 } else { 0 };
        assert_eq!(free, 8 * bytes + over, "version {number}");
    }
}

/// What a camera does, without its errors: finds the mask, and takes the bits from their places.
fn read(rows: &[String]) -> String {
    let size = rows.len();
    let is_dark = |row: usize, column: usize| rows[row].as_bytes()[column] == b'1';
    let number = (size - 17) / 4;
    let version = &VERSIONS[number - 1];
    let near = [(0, 8), (1, 8), (2, 8), (3, 8), (4, 8), (5, 8), (7, 8), (8, 8), (8, 7)];
    let near = near.into_iter().chain((0..6).rev().map(|column| (8, column)));
    let said = (0..).zip(near).map(|(bit, (row, column))| u32::from(is_dark(row, column)) << bit);
    let said: u32 = said.sum();
    let mask = (0..8).find(|mask| format_bits(*mask) == said).unwrap();
    let fixed = QrGrid::of(number, version);
    let mut bits = Vec::new();
    let columns: Vec<usize> = (0..size).filter(|column| *column != 6).rev().collect();
    for (turn, pair) in columns.chunks(2).enumerate() {
        for step in 0..size {
            let row = if turn % 2 == 0 { size - 1 - step } else { step };
            for column in pair {
                if !fixed.places[row * size + column].1 {
                    bits.push(is_dark(row, *column) ^ is_masked(mask, row, *column));
                }
            }
        }
    }
    let byte = |bits: &[bool]| bits.iter().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit));
    let bytes: Vec<u8> = bits.chunks_exact(8).map(byte).collect();
    let mut blocks: Vec<Vec<u8>> = vec![Vec::new(); version.blocks.len()];
    let mut next = bytes.into_iter();
    for at in 0..*version.blocks.iter().max().unwrap() {
        for (block, length) in blocks.iter_mut().zip(version.blocks) {
            if at < *length {
                block.push(next.next().unwrap());
            }
        }
    }
    let data = blocks.concat();
    let half = |at: usize| (data[at / 2] >> (4 * (1 - at % 2))) & 15;
    assert_eq!(half(0), 4);
    let length = usize::from(half(1) << 4 | half(2));
    let text = (0..length).map(|at| half(2 * at + 3) << 4 | half(2 * at + 4));
    String::from_utf8(text.collect()).unwrap()
}

#[test]
fn a_text_of_every_length_is_read_again_and_a_longer_one_has_no_code() {
    for length in 1..=180 {
        let text: String =
            "https://crib.example/#login=0123456789abcdef".chars().cycle().take(length).collect();
        assert_eq!(read(&qr(&text).unwrap()), text);
    }
    assert_eq!(qr(&"x".repeat(181)), None);
    let bytes = codewords(&VERSIONS[0], b"ab");
    assert_eq!(&bytes[..6], [0x40, 0x26, 0x16, 0x20, 0xEC, 0x11]);
}
