// `GET /troupe/v1/why/<plural>/<namespace>/<name>` (`_` for cluster-scoped kinds): why an object is as it is. Answers for an hour after it is gone, too.

import {kindByPlural, kindOf} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {
	address,
	clusterScope,
	controlSystem,
	objectAddress,
	objectKey,
	parseAddress,
	type Address,
	type ObjectKey,
} from '../../api/keys.js';
import {historyIn, type Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {mayRequest} from '../../api/roles.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {inspectorOf, runtimePath} from '../../actors/addresses.js';
import {inspectMessage} from '../../actors/inspector.js';
import type {ActorTree} from '../../api/inspect.js';
import type {LogChunk} from '../../actors/node/runtime/runtime-port.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import type {DepartedObject} from '../../system/commit/departed.js';
import type {ControlPlane} from '../control-plane.js';
import {publicObject} from '../public-text.js';
import {answerOf, causeOf} from '../why/cause.js';
import type {Evidence, Finding} from '../why/finding.js';
import {forgottenAnswer, goneAnswer, type Deletion} from '../why/gone.js';
import {linesOf, logRequest, shownChain, wantedLog, withLines} from '../why/words.js';
import type {HistoryRecord} from '../workflows/run-history.js';
import type {Backend, Exchange, Handler} from './exchange.js';
import {sendJson} from './reply.js';
import {requireRight} from './rights.js';

export const why: Handler = async (backend, exchange) => {
	const key = keyOf(exchange);
	const {control} = backend;
	const {plural = '', name = ''} = exchange.params;
	const present = control.index.get(key);
	const departed = present === undefined ? control.departed.of(key) : undefined;
	const journal = control.journalOf(key);
	const events = control.eventsOf(key);
	const last = present ?? departed?.object;
	if (last === undefined && journal.length === 0 && events.length === 0) throw new AppError('ERR_NOT_FOUND', {resource: plural, name});
	const nowMs = control.nowMs();
	const gone = {goneAtMs: departed?.goneAtMs, deletions: deletionsOf(control, key, departed), nowMs};
	const object = last === undefined ? undefined : publicObject(plural, last);
	const {found, actor} =
		object === undefined ? {found: undefined, actor: undefined} : await findingOf(backend, exchange, object, departed?.goneAtMs);
	const answer =
		object === undefined || found === undefined
			? forgottenAnswer(key, events, gone)
			: present === undefined
				? goneAnswer(object, found, gone)
				: answerOf(object, found);
	sendJson(exchange.response, 200, {
		key,
		answer,
		state: present === undefined ? 'gone' : found?.state,
		next: present === undefined ? null : (found?.next ?? null),
		chain: found?.chain ?? [],
		nowMs,
		...(departed === undefined ? {} : {goneAtMs: departed.goneAtMs}),
		object: present === undefined || object === undefined ? null : summaryOf(object),
		actor: actor === undefined ? null : {...actor, children: actor.childCount},
		journal,
		journalSinceMs: control.journalSinceMs,
		events,
	});
};

/** Its own, and of its controller and what controls that, as long as each was asked for before. */
function deletionsOf(control: ControlPlane, key: ObjectKey, departed: DepartedObject | undefined): readonly Deletion[] {
	const deletions: Deletion[] = [{askedVersion: departed?.askedVersion, journal: control.journalOf(key)}];
	for (let at = departed; at !== undefined && deletions.length < mostOwners;) {
		const {object, askedVersion} = at;
		const owner = controllerOf(object);
		if (owner === undefined) break;
		const {apiVersion, kind, name, uid} = owner;
		const ownerKey = objectKey(kindOf(apiVersion, kind)?.plural ?? '', object.metadata.namespace, name);
		at = control.departed.of(ownerKey);
		if (at?.object.metadata.uid !== uid || at.askedVersion > askedVersion) break;
		deletions.push({askedVersion: at.askedVersion, journal: control.journalOf(ownerKey)});
	}
	return deletions;
}

/** A CronJob's Job's pod has two; users may make longer chains. */
const mostOwners = 8;

type Found = {readonly found: Finding; readonly actor: ActorTree | undefined};

/** The finding, with the last words that the reader may see, and the object's own actor. */
async function findingOf(backend: Backend, exchange: Exchange, object: ApiObject, goneAtMs: number | undefined): Promise<Found> {
	const own = objectAddress(keyOf(exchange));
	const looks: Looks = {actors: new Map(), histories: new Map()};
	const {actors, histories} = looks;
	if (goneAtMs === undefined) actors.set(own, await lookAt(backend, own));
	let found = causeOf(object, evidenceOf(backend, goneAtMs, looks));
	// What it asks for by looking for it is looked at, on any host, and then it looks again.
	for (let round = 0; round < lookRounds && goneAtMs === undefined; round++) {
		const [wanted, runs] = [wantedIn(actors), wantedIn(histories)];
		if (wanted.length + runs.length === 0) break;
		await Promise.all([
			...wanted.map(async at => actors.set(at, await lookAt(backend, at))),
			...runs.map(async key => histories.set(key, await lastOf(backend, key))),
		]);
		found = causeOf(object, evidenceOf(backend, goneAtMs, looks));
	}
	const mayReadLogs = mayRequest(exchange.identity, 'get', 'pods/log');
	const lines = mayReadLogs && goneAtMs === undefined ? await lastLines(backend, exchange, found) : undefined;
	const worded = lines === undefined ? found : withLines(found, lines);
	return {found: {...worded, chain: shownChain(worded, mayReadLogs)}, actor: seen(actors, own)};
}

/** As they were seen, undefined where they are not there or did not answer in time, or still to be looked at. */
type Seen<Value> = Map<string, Value | undefined | 'wanted'>;

/** Actors by their addresses, histories of runs by the keys of these. */
type Looks = {readonly actors: Seen<ActorTree>; readonly histories: Seen<readonly HistoryRecord[]>};

function seen<Value>(all: Seen<Value>, at: string): Value | undefined {
	const value = all.get(at);
	return value === 'wanted' ? undefined : value;
}

/** The same; what was not looked at yet is wanted from now on. */
function wanting<Value>(all: Seen<Value>, at: string): Value | undefined {
	if (!all.has(at)) all.set(at, 'wanted');
	return seen(all, at);
}

const wantedIn = <Value>(all: Seen<Value>): readonly string[] => [...all].flatMap(([at, value]) => (value === 'wanted' ? [at] : []));

const lookRounds = 3;

/** The last records of the history of a run, as far as they can be read. */
async function lastOf({control}: Backend, key: ObjectKey): Promise<readonly HistoryRecord[] | undefined> {
	const run = control.index.get(key) as Run | undefined;
	const from = Math.max(0, (run === undefined ? 0 : historyIn(run).records) - limits.whyRunRecords);
	return control.history.read(key, from, limits.whyRunRecords).then(
		({records}) => records,
		() => undefined,
	);
}

/** What its own system tells of an actor and those below it. */
async function lookAt({control}: Backend, at: Address): Promise<ActorTree | undefined> {
	const {system, path} = parseAddress(at) ?? {system: controlSystem, path: ''};
	const request = {verb: 'tree', place: `${system}/${path}`, depth: actorDepth} as const;
	const outcome = await control.ask<ActorTree>(inspectorOf(system), inspectMessage(request), {
		deadlineMs: limits.inspectSystemMs,
		cause: 'why',
	});
	return outcome.ok ? outcome.value : undefined;
}

/** A hand, its containers, and their probers. */
const actorDepth = 2;

/** As of the moment when the object went, where it is gone. */
const evidenceOf = ({control, inspection}: Backend, goneAtMs: number | undefined, {actors, histories}: Looks): Evidence => ({
	known: control.index,
	nowMs: goneAtMs ?? control.nowMs(),
	eventsOf: control.eventsOf,
	actorAt: at => wanting(actors, at),
	historyOf: key => wanting(histories, key),
	partitionOf: system => (goneAtMs === undefined ? inspection.partitionOf(system) : undefined),
	isGone: goneAtMs !== undefined,
	goneOwnedBy: control.departed.ownedBy,
});

/** Of one container, from its node; undefined where the node has none, or does not answer in time. */
async function lastLines({control}: Backend, {identity}: Exchange, found: Finding): Promise<readonly string[] | undefined> {
	const wanted = wantedLog(found);
	if (wanted === undefined) return undefined;
	const cause = `http ${identity.name} GET pods/${wanted.namespace}/${wanted.pod}/log`;
	const message = {type: 'readLog', request: logRequest(wanted)};
	const outcome = await control.ask<LogChunk>(address(wanted.node, runtimePath), message, {deadlineMs: limits.whyLogMs, cause});
	return outcome.ok ? linesOf(outcome.value) : undefined;
}

function keyOf({identity, params}: Exchange): ObjectKey {
	const {plural = '', namespace = '', name = ''} = params;
	const kind = kindByPlural(plural);
	if (kind === undefined) throw new AppError('ERR_NO_SUCH_PATH');
	const scope = kind.namespaced ? namespace : undefined;
	requireRight(identity, 'get', {kind, namespace: scope, name, subresource: undefined});
	const isScope = kind.namespaced ? isDnsLabel(namespace) : namespace === clusterScope;
	if (!isScope || !isDnsSubdomain(name)) throw new AppError('ERR_NOT_FOUND', {resource: plural, name});
	return objectKey(plural, scope, name);
}

/** What says where the object stands; its spec is a GET away. */
const summaryOf = ({apiVersion, kind, metadata, status}: ApiObject) => ({apiVersion, kind, metadata, status});
