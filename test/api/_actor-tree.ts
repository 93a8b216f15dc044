import type {ActorTree} from '../../api/inspect.js';

/** An actor as a look shows it, all that is not said being as it mostly is. */
export const actorTree = (address: string, {children = [], ...more}: Partial<ActorTree> = {}): ActorTree => ({
	name: address.split('/').at(-1) ?? '',
	address,
	behavior: 'Any',
	state: 'running',
	about: '',
	restarts: 0,
	waiting: 0,
	handled: 0,
	stepMs: 0,
	childCount: children.length,
	...more,
	children,
});
