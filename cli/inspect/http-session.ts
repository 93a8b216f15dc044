// Looks at actors over HTTPS, as the API's page of them allows it: for one command there is nothing to subscribe to.

import {actorsPath, type ActorTree, type FaultLook, type LookRequest, type OfSystem, type SystemsLook} from '../../api/inspect.js';
import type {Client, Query} from '../client.js';
import {usageError} from '../command.js';
import {unlessGivenUp} from './interruptible.js';
import type {Question, Session} from './session.js';

type List = {
	readonly items: readonly ({readonly metadata: {readonly name: string}} & (
		{readonly tree: ActorTree} | {readonly problem: string; readonly faults?: readonly FaultLook[]}
	))[];
};

/** A session that only looks. The client stays its owner's. */
export function createHttpSession(client: Pick<Client, 'json' | 'server'>): Session {
	const list = async (query: Query): Promise<readonly OfSystem<ActorTree>[]> => {
		const {items} = (await client.json({path: actorsPath, query})) as List;
		return items.map(({metadata: {name: system}, ...told}) => ('tree' in told ? {system, value: told.tree} : {system, ...told}));
	};
	const names = async (): Promise<SystemsLook> => ({
		systems: (await list({depth: 0})).map(one => ('problem' in one ? {name: one.system, problem: one.problem} : {name: one.system})),
	});
	const ask = async (question: Question): Promise<unknown> => {
		if (question.verb === 'systems') return names();
		const {place, ...query} = question as Query & {readonly place: string};
		return client.json({path: [actorsPath, ...place.split('/').map(encodeURIComponent)].join('/'), query});
	};
	const askAll = async (question: Question): Promise<readonly OfSystem<never>[]> => {
		const {verb, place: _root, ...query} = question as Query & {readonly verb: string; readonly place: string};
		if (verb === 'tree') return (await list(query)) as readonly OfSystem<never>[];
		const {systems} = await names();
		return Promise.all(
			systems.map(async ({name: system, problem}): Promise<OfSystem<never>> => {
				if (problem !== undefined) return {system, problem};
				return {system, value: (await ask({...(question as LookRequest), place: system})) as never};
			}),
		);
	};
	return {
		about: client.server,
		ask: (question, signal) => unlessGivenUp(ask(question) as Promise<never>, signal),
		askAll: (question, signal) => unlessGivenUp(askAll(question), signal),
		stream({verb}) {
			throw usageError(`${verb} goes over MQTT`);
		},
		onNews: () => undefined,
		close: () => Promise.resolve(),
	};
}
