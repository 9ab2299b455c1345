//! The tool layer for LLM agents: gather, plan, hand out, run and record tool calls.
