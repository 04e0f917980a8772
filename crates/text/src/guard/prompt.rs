//! What the guards of prompts, skills and subagents say.
