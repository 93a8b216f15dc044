// The office of a leader: a term over the store, and what it takes for its doors to serve it.

import {ensureCertificates} from '../../server/certificates.js';
import type {Behind} from '../../server/gateway.js';
import {ensureAdminToken} from '../../server/tokens.js';
import {addSums} from '../../system/store/add-sums.js';
import type {Led, TermGuard} from '../../system/leadership/leadership.js';
import type {Face} from './face.js';
import {keepLineage, refuseLostStore, refuseMissingStore} from './first-start.js';
import type {Stage} from './serve.js';
import type {Stores} from './stores.js';
import {openTerm, type Term, type TermOptions} from './term.js';
import type {ServerOptions} from './up-options.js';
import {programVersion} from '../files/version.js';

export type Office = Led & {readonly term: Term; readonly behind: Behind; readonly mayAct: () => boolean};

export type OfficeOptions = Pick<TermOptions, 'ground' | 'ownNodes' | 'broker' | 'endStreams' | 'design'> & {
	readonly stage: Stage;
	readonly stores: Stores;
	readonly face: Face;
	readonly asked: Pick<ServerOptions, 'store' | 'isNew'>;
};

/** Loads the store and opens the doors. Throws an AppError that says what is wrong; then the store is let go of. */
export async function takeOffice(options: OfficeOptions, {mayAct, onFenced}: TermGuard): Promise<Office> {
	const {stage, stores, face, asked, ...rest} = options;
	refuseMissingStore(stage.home, asked);
	const driver = await stores.open();
	let term: Term | undefined;
	try {
		await refuseLostStore(driver, stage.home, asked);
		await addSums(driver);
		term = await openTerm({
			...rest,
			log: stage.log,
			driver,
			keyFile: stage.home.clusterKey,
			version: programVersion,
			servers: face.servers,
			serverId: face.self.id,
			mayAct,
			onFenced,
			onEscalation: message => stage.fail(`the actor system failed for good: ${message}`),
		});
		await keepLineage(stage.home, term.control.pipeline.meta.lineage);
		const ca = await furnish(term, options);
		return officeOf(term, {behind: term.behind(ca), mayAct, servers: face.servers, closeStore: driver.close});
	} catch (error) {
		await term?.drop();
		await driver.close();
		throw error;
	}
}

/** Certificate, doors, the admin's token and the kubeconfig; the authority, PEM. */
async function furnish({vault, tokens}: Term, {stage, stores, face}: OfficeOptions): Promise<string> {
	const certificate = await ensureCertificates({cluster: vault, own: await face.ownVault()}, face.request());
	await face.openDoors(certificate);
	const {token, made} = await ensureAdminToken(tokens, stage.home.adminToken, stores.shared ? vault : undefined);
	if (made !== undefined) stage.log.info(`a token for admin was made: ${made}`);
	await face.introduce(certificate.ca, token);
	return certificate.ca;
}

type OfficeParts = Pick<Office, 'behind' | 'mayAct'> & {
	readonly servers: () => readonly string[];
	readonly closeStore: () => Promise<void>;
};

const officeOf = (term: Term, {behind, mayAct, servers, closeStore}: OfficeParts): Office => ({
	term,
	behind,
	mayAct,
	begin() {
		term.begin();
		term.tellServers(servers());
	},
	kill: () => void term.drop().then(closeStore),
	stop: done => void term.stop().then(closeStore).then(done),
});
