//! What a sentence-transformer's folder says of its model, and whether that can be done here.

use serde::Deserialize;

use super::folder::{FolderError, ModelFileFault, ModelFolder};

/// Largest file of settings, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Of a model that is no longer small: `bert-large` has 1024, 24, 4096 and 512.
const MOST_WIDTH: usize = 4096;
const MOST_LAYERS: usize = 64;
const MOST_INNER: usize = 16 * 1024;
const MOST_TOKENS: usize = 8192;
const MOST_WORDS: usize = 1_000_000;

/// The sizes of a model of the BERT family.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelShape {
    /// Entries of a vector.
    pub(crate) width: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    /// Entries between the two halves of a layer.
    pub(crate) inner: usize,
    pub(crate) words: usize,
    pub(crate) positions: usize,
    pub(crate) kinds: usize,
    /// Added to a variance, so that nothing is divided by nothing.
    pub(crate) epsilon: f32,
}

/// How the vectors of a text's tokens become the one of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    First,
}

/// All that is said about a model beside its numbers and its words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelSettings {
    pub(crate) shape: ModelShape,
    pub(crate) pooling: Pooling,
    /// Tokens of a text that are read.
    pub(crate) longest: usize,
    pub(crate) lowercase: bool,
}

#[derive(Deserialize)]
struct ModelConfigFile {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "tiny")]
    layer_norm_eps: f32,
    position_embedding_type: Option<String>,
}

fn two() -> usize {
    2
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn tiny() -> f32 {
    1e-12
}

#[derive(Deserialize)]
struct ModuleEntry {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// `1_Pooling/config.json`: a flag for each way.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the file has a flag for each way")]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_sqrt_len_tokens: bool,
    #[serde(default)]
    pooling_mode_weightedmean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
}

#[derive(Deserialize, Default)]
struct SentenceConfigFile {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

impl ModelSettings {
    /// Reads every file of settings that a folder has.
    pub(crate) fn read(folder: &mut ModelFolder) -> Result<Self, FolderError> {
        let config: ModelConfigFile = folder.needed("config.json", LARGEST)?;
        let shape = shape(&config).map_err(|fault| fault.of(folder.file("config.json")))?;
        let sentences: Option<SentenceConfigFile> =
            folder.json("sentence_bert_config.json", LARGEST)?;
        let SentenceConfigFile { max_seq_length, do_lower_case } = sentences.unwrap_or_default();
        let longest = max_seq_length.unwrap_or(shape.positions).min(shape.positions);
        if longest < 3 {
            let fault = ModelFileFault::broken(format!(
                "texts of {longest} tokens have no place for words"
            ));
            return Err(fault.of(folder.file("sentence_bert_config.json")));
        }
        let pooling = pooling(folder)?;
        Ok(Self { shape, pooling, longest, lowercase: do_lower_case })
    }
}

fn shape(config: &ModelConfigFile) -> Result<ModelShape, ModelFileFault> {
    if config.model_type != "bert" {
        let kind: String = config.model_type.chars().take(60).collect();
        return Err(ModelFileFault::unsupported(format!(
            "a model of type `{kind}` cannot be run here"
        )));
    }
    if config.hidden_act != "gelu" {
        return Err(ModelFileFault::unsupported("its `hidden_act` is not `gelu`"));
    }
    if config.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
        return Err(ModelFileFault::unsupported("its positions are not absolute"));
    }
    let within = |name: &str, value: usize, most: usize| {
        if (1..=most).contains(&value) {
            return Ok(value);
        }
        Err(ModelFileFault::unsupported(format!(
            "`{name}` is {value} and not between 1 and {most}"
        )))
    };
    let shape = ModelShape {
        width: within("hidden_size", config.hidden_size, MOST_WIDTH)?,
        layers: within("num_hidden_layers", config.num_hidden_layers, MOST_LAYERS)?,
        heads: within("num_attention_heads", config.num_attention_heads, config.hidden_size)?,
        inner: within("intermediate_size", config.intermediate_size, MOST_INNER)?,
        words: within("vocab_size", config.vocab_size, MOST_WORDS)?,
        positions: within("max_position_embeddings", config.max_position_embeddings, MOST_TOKENS)?,
        kinds: within("type_vocab_size", config.type_vocab_size, MOST_TOKENS)?,
        epsilon: config.layer_norm_eps,
    };
    if !(0.0..=0.1).contains(&shape.epsilon) {
        return Err(ModelFileFault::broken("`layer_norm_eps` is not between 0 and 0.1"));
    }
    // The panels of a matrix are this wide, and no model that is in use stands across them.
    let step = super::matrix::PANEL;
    let is_odd = |size: usize| !size.is_multiple_of(step);
    let head = shape.width / shape.heads;
    if is_odd(head) || head * shape.heads != shape.width || is_odd(shape.inner) {
        let what = format!("its heads or layers have a size that is no multiple of {step}");
        return Err(ModelFileFault::unsupported(what));
    }
    Ok(shape)
}

/// What the modules of a folder do one after the other; without a list, the mean is taken.
/// Vectors come out with length 1 in any case.
fn pooling(folder: &mut ModelFolder) -> Result<Pooling, FolderError> {
    const LIST: &str = "modules.json";
    let Some(modules) = folder.json::<Vec<ModuleEntry>>(LIST, LARGEST)? else {
        return Ok(Pooling::Mean);
    };
    let mut pooling = Pooling::Mean;
    for ModuleEntry { path, kind } in modules {
        match kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" if path.is_empty() => {}
            "Normalize" => {}
            "Pooling" if is_plain(&path) => {
                let name = format!("{path}/config.json");
                let file: PoolingFile = folder.needed(&name, LARGEST)?;
                pooling = file.read().map_err(|fault| fault.of(folder.file(&name)))?;
            }
            other => {
                let other: String = other.chars().take(60).collect();
                let what = format!("the module `{other}` in `{path:.60}` cannot be run here");
                return Err(ModelFileFault::unsupported(what).of(folder.file(LIST)));
            }
        }
    }
    Ok(pooling)
}

/// A name of a folder beside the list, and no way out of it.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && path.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl PoolingFile {
    fn read(&self) -> Result<Pooling, ModelFileFault> {
        let is_other = self.pooling_mode_max_tokens
            || self.pooling_mode_mean_sqrt_len_tokens
            || self.pooling_mode_weightedmean_tokens
            || self.pooling_mode_lasttoken;
        match (self.pooling_mode_mean_tokens, self.pooling_mode_cls_token) {
            (true, false) if !is_other => Ok(Pooling::Mean),
            (false, true) if !is_other => Ok(Pooling::First),
            _ => Err(ModelFileFault::unsupported(
                "only the mean and the first token are pooled here",
            )),
        }
    }
}
