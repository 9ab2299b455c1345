//! Vectors of a real model on one core, against the least that its numbers cost: to be read once,
//! and to be multiplied with what stands nearest to the processor.
//!
//! `cargo bench -p toolcrib-embed` prints the figures with the model that `TOOLCRIB_MINILM` names
//! (`cargo xtask peers` installs it); without it there is nothing to measure.

use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fearless_simd::{Level, Simd, SimdBase as _, SimdFloat as _, dispatch, f32x16};
use toolcrib_embed::{LocalEmbedder, Prefixes};
use toolcrib_search::{EmbedPurpose, Embedder as _};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const TURNS: u32 = 40;
/// Numbers in the matrices of a `MiniLM` with six layers, all of which a vector needs.
const NUMBERS: usize = 6 * (4 * 384 * 384 + 2 * 384 * 1536);

/// Each with its tokens, among them those that the model puts around a text.
const QUERIES: [(&str, usize, &str); 3] = [
    ("query of 6 tokens", 6, "delete my last commit"),
    ("query of 16 tokens", 16, "find a flight from Berlin to Rome on Friday and show the cheapest"),
    (
        "query of 40 tokens",
        40,
        "Please look up all the open issues that were assigned to me last week in our main \
         repository, close those that are duplicates of another issue, and tell me which of them \
         still need an answer.",
    ),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut out = std::io::stdout();
    let Some(folder) = folder() else {
        writeln!(out, "[skipped] TOOLCRIB_MINILM names no model")?;
        return Ok(());
    };
    let before = memory();
    let begun = Instant::now();
    let model = LocalEmbedder::open(&folder, Prefixes::default())?;
    let load = begun.elapsed();
    writeln!(out, "loaded in {load:.0?}, which takes {} MiB", memory().saturating_sub(before))?;
    let numbers: Vec<f32> = [0.0, 1.0, 2.0, 3.0, 4.0].into_iter().cycle().take(NUMBERS).collect();
    for (what, tokens, text) in QUERIES {
        let texts = [text.to_owned()];
        let (mut bare, mut product, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let begun = Instant::now();
            black_box(sum(&numbers));
            bare.push(begun.elapsed());
            let begun = Instant::now();
            black_box(multiplied(tokens * NUMBERS));
            product.push(begun.elapsed());
            let begun = Instant::now();
            black_box(model.embed(EmbedPurpose::Query, &texts).await?);
            ours.push(begun.elapsed());
        }
        let (bare, product, ours) = (median(bare), median(product), median(ours));
        let to = |other: Duration| ours.as_secs_f64() / other.as_secs_f64();
        let (to_bare, to_product) = (to(bare), to(product));
        writeln!(
            out,
            "{what}: {ours:.1?}; reading the numbers: {bare:.1?}, ratio {to_bare:.1}; the products \
             alone: {product:.1?}, ratio {to_product:.2}; promised: 15ms"
        )?;
    }
    let tools = descriptions(1223);
    let begun = Instant::now();
    black_box(model.embed(EmbedPurpose::Tool, &tools).await?);
    let took = begun.elapsed();
    let second = 1223.0 / took.as_secs_f64();
    writeln!(out, "1,223 descriptions of 35 tokens: {took:.1?}, {second:.0} a second")?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the run names its peers by the environment")]
fn folder() -> Option<PathBuf> {
    std::env::var_os("TOOLCRIB_MINILM").map(PathBuf::from)
}

/// Reads every number once, in sixteen sums that run beside each other.
fn sum(numbers: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for chunk in numbers.as_chunks::<16>().0 {
        sums.iter_mut().zip(chunk).for_each(|(sum, number)| *sum += *number);
    }
    sums.iter().sum()
}

/// So many products, added up in the widest sums that the processor has, of numbers that are at
/// hand: what no product of matrices can be faster than.
fn multiplied(products: usize) -> f32 {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
    fn run<S: Simd>(simd: S, turns: usize, numbers: &[f32; 16]) -> f32 {
        simd.vectorize(
            #[inline(always)]
            || {
                let columns = f32x16::from_slice(simd, numbers);
                // Each begins with another number, or they would all be one sum.
                let begin = black_box([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
                let mut sums = begin.map(|begin: f32| f32x16::splat(simd, begin));
                for _ in 0..turns {
                    let row = f32x16::splat(simd, black_box(0.25));
                    for sum in &mut sums {
                        *sum = row.mul_add(columns, *sum);
                    }
                }
                let mut all = [0.0; 16];
                for sum in sums {
                    (sum + f32x16::from_slice(simd, &all)).store_slice(&mut all);
                }
                all.iter().sum()
            },
        )
    }
    let numbers = black_box([0.5; 16]);
    dispatch!(Level::new(), simd => run(simd, products / 96, &numbers))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Memory of this process in MiB, as Linux tells it; elsewhere none.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

/// Texts as the operations of an API have them.
fn descriptions(count: usize) -> Vec<String> {
    let verbs = ["List", "Get", "Create", "Update", "Delete"];
    let nouns = ["pull request review comments", "organization secrets", "workflow runs", "gists"];
    let text = |number: usize| {
        let verb = verbs.iter().cycle().nth(number).copied().unwrap_or_default();
        let noun = nouns.iter().cycle().nth(number / 5).copied().unwrap_or_default();
        format!(
            "{verb} {noun} {number}: the authenticated user must have read access to the \
             repository. owner, repo, page, per_page, sort, direction"
        )
    };
    (0..count).map(text).collect()
}
