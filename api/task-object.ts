// Objects that are tasks of runs, Jobs and runs: what they say of the run that has them.

/** Of such an object: the name of that run. One with a name that is no label has none; its owner is the run in any case. */
export const taskOfRunLabel = 'troupe.dev/task-of-run';
/** Which attempt of which state it is: the key of the task. */
export const taskKeyAnnotation = 'troupe.dev/task-key';
/** Of a run: the uid of the run that it comes from, through however many tasks. */
export const rootRunAnnotation = 'troupe.dev/root-run';
