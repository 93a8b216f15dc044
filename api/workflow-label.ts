// The label of what belongs to a workflow: its runs, and the revisions of its definition.

export const workflowLabel = 'troupe.dev/workflow';
