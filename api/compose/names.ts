// Names of a compose file as names of objects: DNS labels.

/** Shorter than 63: pods put something behind it. */
const longest = 50;

/** The nearest DNS label, `my-app` of `My_App`; undefined where nothing of it can stay. It begins with a letter, as Services must. */
export function labelOf(name: string): string | undefined {
	const label = name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.replace(/^[-0-9]+/, '')
		.slice(0, longest)
		.replace(/-+$/, '');
	return label === '' ? undefined : label;
}

/** Of a project whose file does not say it: from its folder, as docker-compose does, and a label. */
export const projectOf = (name: string): string => labelOf(name.toLowerCase().replace(/[^-_a-z0-9]/g, '')) ?? 'default';

/** An absolute path, or one below a folder, without `.` and `..`; `~` is the home. */
export function pathBelow(folder: string, path: string, home: string | undefined): string {
	const whole = /^~(?=\/|$)/.test(path) && home !== undefined ? home + path.slice(1) : path.startsWith('/') ? path : `${folder}/${path}`;
	const steps: string[] = [];
	for (const step of whole.split('/')) {
		if (step === '..') steps.pop();
		else if (step !== '' && step !== '.') steps.push(step);
	}
	return `/${steps.join('/')}`;
}
