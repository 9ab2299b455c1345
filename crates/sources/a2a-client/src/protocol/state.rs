//! Where a task is in its life.

use super::wire::WireForm;

/// The state of a task. Nothing of it says that a task is over but the four ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskState {
    /// Not said, or a word that nobody here knows: the task goes on.
    #[default]
    Unknown,
    /// Taken, and not begun.
    Submitted,
    Working,
    /// It waits for words of whoever asked.
    InputRequired,
    /// It waits until somebody has signed in.
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
}

/// Each state with its name in 1.0 and in 0.3.
const NAMES: [(TaskState, &str, &str); 9] = [
    (TaskState::Unknown, "TASK_STATE_UNSPECIFIED", "unknown"),
    (TaskState::Submitted, "TASK_STATE_SUBMITTED", "submitted"),
    (TaskState::Working, "TASK_STATE_WORKING", "working"),
    (TaskState::InputRequired, "TASK_STATE_INPUT_REQUIRED", "input-required"),
    (TaskState::AuthRequired, "TASK_STATE_AUTH_REQUIRED", "auth-required"),
    (TaskState::Completed, "TASK_STATE_COMPLETED", "completed"),
    (TaskState::Failed, "TASK_STATE_FAILED", "failed"),
    (TaskState::Canceled, "TASK_STATE_CANCELED", "canceled"),
    (TaskState::Rejected, "TASK_STATE_REJECTED", "rejected"),
];

impl TaskState {
    /// A name of either version.
    pub fn read(name: &str) -> Self {
        // The protocol buffers of 0.3 have it with two `l`.
        if matches!(name, "TASK_STATE_CANCELLED" | "cancelled") {
            return Self::Canceled;
        }
        let found = NAMES.iter().find(|(_, current, old)| *current == name || *old == name);
        found.map_or(Self::Unknown, |(state, _, _)| *state)
    }

    /// The name of 0.3, which reads well in a sentence too.
    pub fn as_str(self) -> &'static str {
        self.named().map_or("unknown", |(_, _, old)| old)
    }

    /// The name of 1.0.
    pub fn current_name(self) -> &'static str {
        self.named().map_or("TASK_STATE_UNSPECIFIED", |(_, current, _)| current)
    }

    /// The name in one form.
    pub fn name(self, form: WireForm) -> &'static str {
        match form {
            WireForm::Kinds => self.as_str(),
            WireForm::OldProto if self == Self::Canceled => "TASK_STATE_CANCELLED",
            WireForm::Current | WireForm::OldProto => self.current_name(),
        }
    }

    fn named(self) -> Option<&'static (Self, &'static str, &'static str)> {
        NAMES.iter().find(|(state, _, _)| *state == self)
    }

    /// Whether nothing more comes of the task.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the task waits for whoever asked.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}
