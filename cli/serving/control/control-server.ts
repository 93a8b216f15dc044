// A server of the control plane: its doors, which stay open, and behind them its own term, or the word that another server leads.

import {existsSync} from 'node:fs';
import {AppError, failure, succeeded, type Outcome} from '../../../api/errors.js';
import {findCertificates, lastCertificate} from '../../../server/certificates.js';
import {keptInFile} from '../../../server/file-kept.js';
import type {Upstream} from '../../../server/gateway.js';
import {openServerInstruments} from '../../../server/metrics/instruments.js';
import {createScrapes} from '../../../server/metrics/scrapes.js';
import {openVault} from '../../../server/vault.js';
import type {ServerInfo} from '../../../system/leadership/election.js';
import {lead, type Leadership} from '../../../system/leadership/leadership.js';
import {createDeferred, type Deferred} from '../../../system/time/deferred.js';
import {diskTrouble} from '../../files/disk-trouble.js';
import {openApi, type ApiDoor, type OtherDoors} from './doors.js';
import {refuseLostStore} from './first-start.js';
import type {Home} from '../../files/home.js';
import {readSharedVault} from './shared-vault.js';
import {programVersion} from '../../files/version.js';
import {renewDaily} from './renewal.js';
import {serverIdentityOf, type ServerIdentity} from './server-identity.js';
import {standBy} from './standby.js';
import {openStandbyLogins, type StandbyLogins} from './standby-logins.js';
import {storesOf, type Stores} from './stores.js';
import {openTerm, type ServedTerm, type TermOptions} from './term.js';
import type {TermParts} from './term-parts.js';
import type {ServerOptions} from '../serving-options.js';
import {failedError} from '../../command.js';

export type ControlServerOptions = Pick<TermOptions, 'context' | 'ownNodes' | 'connectHere' | 'design' | 'settings'> & {
	readonly options: ServerOptions;
	/** A term is over, and this server waits to be elected again. */
	readonly onStandby: (reason: string) => void;
};

export type ControlServer = {
	/** `https://host:port` as others reach it. */
	readonly url: string;
	/** The same for this host alone. */
	readonly here: string;
	readonly doors: OtherDoors;
	/** What the term that is on has opened; undefined while another server leads. */
	readonly term: () => TermParts | undefined;
	/** The server that leads, if it is another one. */
	readonly otherLeader: () => ServerInfo | undefined;
};

type State = {
	readonly stores: Stores;
	/** Settled once this server leads, stands by, or has failed to do either. */
	readonly decision: Deferred;
	doors: OtherDoors | undefined;
	term: ServedTerm | undefined;
	leadership: Leadership<ServedTerm> | undefined;
	stopping: boolean;
};

/** Resolves once it leads, or knows that it stands by. Throws an AppError that says what is wrong. */
export async function openControlServer(asked: ControlServerOptions): Promise<ControlServer> {
	const {options, context} = asked;
	const {home, log, closers, processParts} = context;
	const {clock} = processParts;
	const stores = await storesOf(options.store, context);
	closers.add(stores.election.close);
	// Before any door is open: a server that lacks the cluster's key can do nothing.
	if (stores.shared) {
		await readSharedVault(stores, home.clusterKey);
		await refuseLostSharedStore(stores, home, options);
	}
	const state: State = {stores, decision: createDeferred(), doors: undefined, term: undefined, leadership: undefined, stopping: false};
	const instruments = openServerInstruments(context.exposition);
	const scrapes = createScrapes({
		term: () => (mayServe(state) ? state.term?.parts.metrics : undefined),
		version: programVersion,
		...context.exposition,
	});
	const logins = stores.shared ? openStandbyLogins(() => readSharedVault(stores, home.clusterKey), clock) : undefined;
	const doors = {options, upstream: () => upstreamOf(state, identity, logins), scrapes, onAnswered: instruments.answered, context};
	const api = await openApi(doors);
	const identity = withDoorsIn(state, serverIdentityOf(stores.election, {id: processParts.random.uuid(), api: api.url}, doors, api));
	// The API's port is the last one that closes: a client that comes while the term ends is told to come again.
	closers.add(() => stop(state, api));
	const early = await lastCertificateOf(home, clock.nowMs());
	if (early !== undefined) api.gateway.useCertificate({...early, ca: undefined});
	state.leadership = campaign(state, {...asked, instruments}, api, identity);
	if (stores.shared) void standBy({context, stores, identity, decision: state.decision});
	await state.decision.promise;
	if (state.term === undefined) api.gate.serve(undefined);
	closers.add(
		renewDaily({
			clock,
			async find() {
				const cluster = state.term?.parts.vault ?? (stores.shared ? await readSharedVault(stores, home.clusterKey) : undefined);
				return cluster === undefined ? undefined : findCertificates({cluster, own: await identity.ownVault()}, identity.request());
			},
			show: identity.openDoors,
			onProblem: problem => log.warn(problem, 'the certificate of this server could not be looked at'),
		}),
	);
	if (state.doors === undefined) throw new AppError('ERR_INTERNAL', {message: 'the doors are not open'});
	return {url: api.url, here: api.here, doors: state.doors, term: () => state.term?.parts, otherLeader: identity.otherLeader};
}

const mayServe = ({stopping, term}: State): boolean => !stopping && term?.mayAct() === true;

function upstreamOf(state: State, {otherLeader}: ServerIdentity, authenticate: StandbyLogins | undefined): Upstream {
	const {term, stores} = state;
	if (term !== undefined && mayServe(state)) return term.upstream;
	return {
		type: 'standby',
		leader: otherLeader()?.api,
		storeAnswers: stores.election.answers(),
		...(authenticate === undefined ? {} : {authenticate}),
	};
}

/** Doors that cannot be opened decide that this server has failed: a port that is taken now will be so in the next term. */
const withDoorsIn = (state: State, identity: ServerIdentity): ServerIdentity => ({
	...identity,
	async openDoors(certificate) {
		try {
			return (state.doors = await identity.openDoors(certificate));
		} catch (error) {
			state.decision.reject(error);
			throw error;
		}
	},
});

async function stop(state: State, {gate, gateway}: ApiDoor): Promise<void> {
	state.stopping = true;
	gate.hold();
	await gateway.settle();
	await state.leadership?.stop();
}

/** Runs in the election from now on, and opens a term each time this server is elected. */
function campaign(
	state: State,
	asked: ControlServerOptions & Pick<TermOptions, 'instruments'>,
	{gate, gateway}: ApiDoor,
	identity: ServerIdentity,
): Leadership<ServedTerm> {
	const {options, onStandby, ...rest} = asked;
	const {log, processParts} = rest.context;
	const {stores, decision} = state;
	const ofTerms: TermOptions = {...rest, asked: options, broker: options.broker?.server, endStreams: gateway.endOf, stores, identity};
	return lead<ServedTerm>({
		election: stores.election,
		self: identity.self,
		clock: processParts.clock,
		open: (guard, done) => void openTerm(ofTerms, guard).then(succeeded, outcomeOf).then(done),
		onLeading(term) {
			state.term = term;
			gate.serve(term.parts.taker);
			log.info('this server leads');
			decision.resolve();
		},
		onStandby(reason) {
			state.term = undefined;
			if (!state.stopping) gate.serve(undefined);
			gateway.endTerm();
			if (!state.stopping) onStandby(reason);
		},
		onChanged() {
			state.term?.parts.tellServers(identity.servers());
			identity.refreshKubeconfig().catch((error: unknown) => log.warn(error, 'the kubeconfig could not be written'));
		},
		onProblem(message) {
			log.warn(`a term could not begin: ${message}`);
			if (!stores.shared) decision.reject(failedError(message));
		},
	});
}

async function refuseLostSharedStore({open}: Stores, home: Home, options: ServerOptions): Promise<void> {
	const driver = await open();
	try {
		await refuseLostStore(driver, home, options);
	} finally {
		await driver.close();
	}
}

/** So that a client that comes while the store is read is answered. Undefined where it cannot be read: it is made again. */
async function lastCertificateOf(home: Home, nowMs: number): Promise<{readonly cert: string; readonly key: string} | undefined> {
	if (!existsSync(home.clusterKey) || !existsSync(home.serverCertificate)) return undefined;
	try {
		return lastCertificate(await openVault(home.clusterKey, keptInFile(home.serverCertificate)), nowMs);
	} catch {
		return undefined;
	}
}

const outcomeOf = (error: unknown): Outcome<never> => {
	if (error instanceof AppError) return {ok: false, error: error.failure};
	return {
		ok: false,
		error: failure('ERR_INTERNAL', {
			message: diskTrouble(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)),
		}),
	};
};
