//! A model, a server that keeps its runs in memory, and one that keeps them on the disk.

use std::path::Path;

use super::endpoint::configuration;
use super::model::LoadModel;
use crate::test_bed::{MeasuredPrograms, STORE, TestBed};
use crate::{LoadError, LoadTarget, MeasuredProgram};

/// All of them end when it is dropped.
pub(super) struct AgentServers {
    /// Before the folders that they work in.
    _programs: [MeasuredProgram; 2],
    _model: LoadModel,
    pub(super) folders: [TestBed; 2],
    /// The model alone.
    pub(super) direct: LoadTarget,
    pub(super) in_memory: LoadTarget,
    pub(super) stored: LoadTarget,
}

impl AgentServers {
    pub(super) fn start(programs: &MeasuredPrograms, below: &Path) -> Result<Self, LoadError> {
        let model = LoadModel::start()?;
        let file = configuration(&model);
        let folders = [TestBed::new(programs, below)?, TestBed::new(programs, below)?];
        let [plain, kept] = &folders;
        let (plain_program, in_memory) = plain.forgetful(&file)?;
        let (kept_program, stored) = kept.serve(&format!("{STORE}{file}"))?;
        let direct = model.target();
        let programs = [plain_program, kept_program];
        Ok(Self { _programs: programs, _model: model, folders, direct, in_memory, stored })
    }
}
