// A server: its doors, which stay open, and behind them the term that is on, or the word that another server leads.

import {existsSync} from 'node:fs';
import {AppError, failure, succeeded, type Outcome} from '../../api/errors.js';
import {findCertificates, lastCertificate} from '../../server/certificates.js';
import {keptInFile} from '../../server/file-kept.js';
import type {Behind} from '../../server/gateway.js';
import {openVault} from '../../server/vault.js';
import type {ServerInfo} from '../../system/leadership/election.js';
import {lead, type Leadership} from '../../system/leadership/leadership.js';
import {openDecision} from '../../system/time/decision.js';
import {diskTrouble} from '../files/disk-trouble.js';
import {openApi, type DoorParts, type OtherDoors} from './doors.js';
import {faceOf} from './face.js';
import {refuseLostStore} from './first-start.js';
import type {Home} from '../files/home.js';
import {takeOffice, type Office, type OfficeOptions} from './office.js';
import {readSharedVault} from './shared-vault.js';
import {renewDaily} from './renewal.js';
import {standBy} from './standing-by.js';
import {storesOf, type Stores} from './stores.js';
import type {Term} from './term.js';
import type {ServerOptions} from './up-options.js';
import {failedError} from '../command.js';

export type LeaderOptions = Omit<OfficeOptions, 'stores' | 'face' | 'broker' | 'endStreams' | 'asked'> & {
	readonly options: ServerOptions;
	/** A term is over, and this server waits to be elected again. */
	readonly onStandby: (reason: string) => void;
};

export type Leader = {
	/** `https://host:port` as others reach it. */
	readonly url: string;
	readonly doors: OtherDoors;
	/** The term that is on; undefined while another server leads. */
	readonly term: () => Term | undefined;
	/** The server that leads, if it is another one. */
	readonly otherLeader: () => ServerInfo | undefined;
};

/** Resolves once it leads, or knows that it stands by. Throws an AppError that says what is wrong. */
export async function openLeader({options, onStandby, ...parts}: LeaderOptions): Promise<Leader> {
	const {stage, ground} = parts;
	const {home, log, closers} = stage;
	const {clock} = ground;
	const stores = await storesOf(options.store, home.data, ground, log);
	closers.add(stores.election.close);
	// Before any door is open: a server that lacks the cluster's key can do nothing.
	if (stores.shared) {
		await readSharedVault(stores, home.clusterKey);
		await refuseLostSharedStore(stores, home, options);
	}

	const state: {office?: Office | undefined; leadership?: Leadership<Office>; stopping: boolean} = {stopping: false};
	const behind = (): Behind =>
		!state.stopping && state.office?.mayAct() === true
			? state.office.behind
			: {type: 'standby', leader: face.otherLeader()?.api, storeAnswers: stores.election.answers()};
	const doors: DoorParts = {options, behind, clock, log, closers};
	const api = await openApi(doors);
	const face = faceOf(home, stores.election, {id: ground.random.uuid(), api: api.url}, doors, api);
	// The API's port is the last one that closes: whoever comes while the term ends is told to come again.
	closers.add(async () => {
		state.stopping = true;
		api.gate.hold();
		await api.gateway.settle();
		await state.leadership?.stop();
	});
	const early = await lastCertificateOf(home, clock.nowMs());
	if (early !== undefined) api.gateway.useCertificate({...early, ca: undefined});
	const decision = openDecision();
	let opened: OtherDoors | undefined;
	const openDoors: typeof face.openDoors = async certificate => {
		// A port that is taken now will be so in the next term.
		opened = await face.openDoors(certificate).catch((error: unknown) => {
			decision.reject(error);
			throw error;
		});
		return opened;
	};
	const faceOfTerms = {...face, openDoors};

	state.leadership = lead<Office>({
		election: stores.election,
		self: face.self,
		clock,
		open: (term, done) =>
			void takeOffice(
				{...parts, asked: options, broker: options.broker?.server, endStreams: api.gateway.endOf, stores, face: faceOfTerms},
				term,
			)
				.then(succeeded, outcomeOf)
				.then(done),
		onLeading(office) {
			state.office = office;
			api.gate.serve(office.term.taker);
			log.info('this server leads');
			decision.resolve();
		},
		onStandby(reason) {
			state.office = undefined;
			if (!state.stopping) api.gate.serve(undefined);
			api.gateway.endTerm();
			if (!state.stopping) onStandby(reason);
		},
		onChanged() {
			state.office?.term.tellServers(face.servers());
			face.reintroduce().catch((error: unknown) => log.warn(error, 'the kubeconfig could not be written'));
		},
		onProblem(message) {
			log.warn(`a term could not begin: ${message}`);
			if (!stores.shared) decision.reject(failedError(message));
		},
	});
	if (stores.shared) void standBy({stage, stores, face: faceOfTerms, clock, decision});
	await decision.promise;
	if (state.office === undefined) api.gate.serve(undefined);
	closers.add(
		renewDaily({
			clock,
			async find() {
				const cluster = state.office?.term.vault ?? (stores.shared ? await readSharedVault(stores, home.clusterKey) : undefined);
				return cluster === undefined ? undefined : findCertificates({cluster, own: await face.ownVault()}, face.request());
			},
			show: face.openDoors,
			onProblem: problem => log.warn(problem, 'the certificate of this server could not be looked at'),
		}),
	);
	if (opened === undefined) throw new AppError('ERR_INTERNAL', {message: 'the doors are not open'});
	return {url: api.url, doors: opened, term: () => state.office?.term, otherLeader: face.otherLeader};
}

async function refuseLostSharedStore({open}: Stores, home: Home, options: ServerOptions): Promise<void> {
	const driver = await open();
	try {
		await refuseLostStore(driver, home, options);
	} finally {
		await driver.close();
	}
}

/** So that whoever comes while the store is read is answered. Undefined where it cannot be read: it is made again. */
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
