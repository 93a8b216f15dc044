// What several parts ask of an Engine about single containers.

import {limits} from '../../../api/limits.js';
import {EngineError, type Docker, type Engine} from './engine.js';
import {infraName, labels} from './names.js';

export type Inspected = Awaited<ReturnType<ReturnType<Docker['getContainer']>['inspect']>>;
export type Listed = Awaited<ReturnType<Docker['listContainers']>>[number];

export const inspect = (engine: Engine, id: string): Promise<Inspected> =>
	engine.call('look at a container', limits.engineAnswerMs, (docker, abortSignal) => docker.getContainer(id).inspect({abortSignal}));

/** Of this owner, also those that do not run. */
export const listOurs = (engine: Engine, owner: string, uid?: string): Promise<readonly Listed[]> =>
	engine.call('list containers', limits.engineAnswerMs, (docker, abortSignal) => {
		const label = [`${labels.owner}=${owner}`, ...(uid === undefined ? [] : [`${labels.podUid}=${uid}`])];
		return docker.listContainers({all: true, filters: {label}, abortSignal});
	});

/** Kills it, too. Fine when there is none. */
export const remove = (engine: Engine, id: string): Promise<void> =>
	ignoring(['notFound', 'conflict'], () =>
		engine.call('remove a container', limits.engineStartMs, docker => docker.getContainer(id).remove({force: true, v: true})),
	);

/** Fine when it does not run. */
export const kill = (engine: Engine, id: string, signal: string): Promise<void> =>
	ignoring(['notFound', 'conflict'], () =>
		engine.call('signal a container', limits.engineAnswerMs, docker => docker.getContainer(id).kill({signal})),
	);

/** Those that are joined to others go first, as Podman demands; and a network goes last: programs may want to say something at their end. */
export async function removeAll(
	engine: Engine,
	all: readonly Listed[],
	inLane: (work: () => Promise<void>) => Promise<void> = work => work(),
): Promise<void> {
	const isInfra = ({Labels}: Listed): boolean => Labels[labels.container] === infraName;
	for (const each of [all.filter(one => !isInfra(one)), all.filter(isInfra)])
		await Promise.all(each.map(({Id}) => inLane(() => remove(engine, Id))));
}

async function ignoring(faults: readonly EngineError['fault'][], run: () => Promise<unknown>): Promise<void> {
	try {
		await run();
	} catch (error) {
		if (!(error instanceof EngineError && faults.includes(error.fault))) throw error;
	}
}

/**
 * Makes a container; one of its name that this owner has was left by a call that was not answered, and goes. Rejects with an EngineError when the
 * name is somebody else's, whose container stays.
 */
export async function create(engine: Engine, options: ContainerOptions): Promise<string> {
	const attempt = (): Promise<string> =>
		engine.call('create a container', limits.engineStartMs, async docker => (await docker.createContainer(options)).id);
	try {
		return await attempt();
	} catch (error) {
		if (!(error instanceof EngineError && mayBeOfName.includes(error.fault)) || options.name === undefined) throw error;
		const there = await removeNamed(engine, options.name, options.Labels?.[labels.owner] ?? '');
		if (there === 'none' && error.fault !== 'conflict') throw error;
		if (there !== 'another owner') return attempt();
		throw new EngineError('refused', `create a container: the Engine has one called "${options.name}" that is not of this node: remove it`);
	}
}

/** Podman says as of any other failure that a name is taken. */
const mayBeOfName: readonly EngineError['fault'][] = ['conflict', 'refused'];

type ContainerOptions = Parameters<Docker['createContainer']>[0];

/** Removes the container of a name if it is this owner's. Fine when there is none. */
export async function removeNamed(engine: Engine, name: string, owner: string): Promise<'removed' | 'none' | 'another owner'> {
	const there = await lookAt(engine, name);
	if (there === undefined) return 'none';
	if (there.Config.Labels[labels.owner] !== owner) return 'another owner';
	// By its id: the name may be another's by now.
	await remove(engine, there.Id);
	return 'removed';
}

/** Undefined: there is none. */
export async function lookAt(engine: Engine, id: string): Promise<Inspected | undefined> {
	try {
		return await inspect(engine, id);
	} catch (error) {
		if (error instanceof EngineError && error.fault === 'notFound') return undefined;
		throw error;
	}
}

export const start = (engine: Engine, id: string): Promise<unknown> =>
	engine.call('start a container', limits.engineStartMs, docker => docker.getContainer(id).start());

export const rename = (engine: Engine, id: string, name: string): Promise<unknown> =>
	engine.call('rename a container', limits.engineAnswerMs, docker => docker.getContainer(id).rename({name}));

/** Changes limits of one that runs. */
export const update = (engine: Engine, id: string, changed: ContainerOptions['HostConfig']): Promise<unknown> =>
	engine.call('change the limits of a container', limits.engineAnswerMs, docker => docker.getContainer(id).update({...changed}));
