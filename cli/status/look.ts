// Asks the cluster for all that its status is made of: lists of objects, what the server counts, and the roots of its systems of actors.

import {AppError} from '../../api/errors.js';
import type {ActorTree, FaultsLook, OfSystem, SystemStats} from '../../api/inspect.js';
import {controlSystem} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import {systemClock} from '../../system/time/clock.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {resourceOf} from '../cluster/resources.js';
import {createHttpSession} from '../inspect/http-session.js';
import type {Session} from '../inspect/session.js';
import {isWrong} from '../inspect/tree-view.js';
import {isUsers, type Actors, type Counters, type Objects, type Seen} from './seen.js';

/** Systems that are looked into; of more it is known that something is wrong there. */
const lookedInto = 20;
/** Of each crowd of actors, those that are wrong first. */
const crowd = 8;
const depth = 16;

/** Throws AppError where the cluster does not answer. */
export async function look(client: Client): Promise<Seen> {
	// The first answer tells whether there is a cluster at all, in one line.
	const {gitVersion} = (await client.json({path: '/version'})) as {readonly gitVersion?: string};
	const [counters, objects, actors] = await Promise.all([
		client.json({path: '/troupe/v1/counters'}) as Promise<Counters>,
		objectsOf(client),
		actorsOf(createHttpSession(client)),
	]);
	return {server: client.server, gitVersion, nowMs: systemClock.nowMs(), counters, objects, actors};
}

async function objectsOf(client: Client): Promise<Objects> {
	const all = async <One extends ApiObject>(plural: keyof Objects): Promise<readonly One[]> =>
		(await listAll(client, resourceOf(plural), undefined)) as readonly One[];
	const [nodes, pods, deployments, replicasets, statefulsets, daemonsets, jobs, persistentvolumeclaims] = await Promise.all([
		all<Objects['nodes'][number]>('nodes'),
		all<Objects['pods'][number]>('pods'),
		all<Objects['deployments'][number]>('deployments'),
		all<Objects['replicasets'][number]>('replicasets'),
		all<Objects['statefulsets'][number]>('statefulsets'),
		all<Objects['daemonsets'][number]>('daemonsets'),
		all<Objects['jobs'][number]>('jobs'),
		all<Objects['persistentvolumeclaims'][number]>('persistentvolumeclaims'),
	]);
	return {nodes, pods, deployments, replicasets, statefulsets, daemonsets, jobs, persistentvolumeclaims};
}

/** First the roots, which know how much is wrong below them; then only what is wrong. */
async function actorsOf(session: Session): Promise<Actors> {
	const [roots, control] = await Promise.all([session.askAll({verb: 'tree', place: '', depth: 0}), statsOf(session)]);
	const [own, users] = [roots.filter(one => !isUsers(one.system)), roots.filter(one => isUsers(one.system))];
	const places = [...own, ...users].flatMap(one => ('value' in one && deservesALook(one.value) ? [one.system] : [])).slice(0, lookedInto);
	const [trees, faults] = await Promise.all([
		Promise.all(places.map(place => ofSystem<ActorTree>(place, session.ask({verb: 'tree', place, depth, children: crowd})))),
		Promise.all(places.map(place => ofSystem<FaultsLook>(place, session.ask({verb: 'faults', place})))),
	]);
	return {roots, trees, faults, control};
}

const deservesALook = (root: ActorTree): boolean => (root.wrongBelow ?? 0) > 0 || isWrong(root);

/** What a system that went meanwhile says is why it says nothing. */
async function ofSystem<Answer>(system: string, answer: Promise<Answer>): Promise<OfSystem<Answer>> {
	try {
		return {system, value: await answer};
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return {system, problem: error.message};
	}
}

async function statsOf(session: Session): Promise<SystemStats | undefined> {
	const told = await ofSystem(controlSystem, session.ask({verb: 'stats', place: controlSystem}));
	return 'value' in told ? told.value : undefined;
}
