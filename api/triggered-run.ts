// What a run that a trigger of its workflow has started says of that.

/** A label: the name of the trigger. */
export const triggerLabel = 'troupe.dev/trigger';

/** An annotation: the time of the schedule that it is for. */
export const scheduledTimeAnnotation = 'troupe.dev/scheduled-time';

const causesAnnotation = 'troupe.dev/because-of';

type Annotated = {readonly metadata: {readonly annotations?: {readonly [name: string]: string}}};

/** The workflows because of whose runs it was started, one because of another. */
export const causesOf = ({metadata}: Annotated): readonly string[] => {
	const text = metadata.annotations?.[causesAnnotation] ?? '';
	return text === '' ? [] : text.split(',');
};

/** The annotation that says so; none without any. */
export const causesAnnotations = (workflows: readonly string[]): {readonly [name: string]: string} =>
	workflows.length === 0 ? {} : {[causesAnnotation]: workflows.join(',')};
