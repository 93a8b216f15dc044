// A leader's term, from the store that is taken over to the doors that serve it.

import {ensureCertificates} from '../../../server/certificates.js';
import type {Upstream} from '../../../server/gateway.js';
import {ensureAdminToken} from '../../../server/tokens.js';
import {addSums} from '../../../system/store/add-sums.js';
import type {Led, TermGuard} from '../../../system/leadership/leadership.js';
import {keepLineage, refuseLostStore, refuseMissingStore} from './first-start.js';
import type {ServerIdentity} from './server-identity.js';
import type {Stores} from './stores.js';
import {openTermParts, type TermParts, type TermPartsOptions} from './term-parts.js';
import type {ServerOptions} from '../serving-options.js';

export type ServedTerm = Led & {readonly parts: TermParts; readonly upstream: Upstream; readonly mayAct: () => boolean};

export type TermOptions = Pick<
	TermPartsOptions,
	'context' | 'ownNodes' | 'connectHere' | 'broker' | 'endStreams' | 'design' | 'settings' | 'instruments'
> & {
	readonly stores: Stores;
	readonly identity: ServerIdentity;
	readonly asked: Pick<ServerOptions, 'store' | 'isNew'>;
};

/** Loads the store and opens the doors. Throws an AppError that says what is wrong; then the store is let go of. */
export async function openTerm(options: TermOptions, {mayAct, onFenced}: TermGuard): Promise<ServedTerm> {
	const {stores, identity, asked, ...rest} = options;
	const {context} = options;
	refuseMissingStore(context.home, asked);
	const driver = await stores.open();
	let parts: TermParts | undefined;
	try {
		await refuseLostStore(driver, context.home, asked);
		await addSums(driver);
		parts = await openTermParts({
			...rest,
			driver,
			servers: identity.servers,
			serverId: identity.self.id,
			mayAct,
			onFenced,
		});
		await keepLineage(context.home, parts.control.pipeline.meta.lineage);
		const ca = await serveAtDoors(parts, options);
		return termOf(parts, {upstream: parts.upstream(ca), mayAct, servers: identity.servers, closeStore: driver.close});
	} catch (error) {
		await parts?.drop();
		await driver.close();
		throw error;
	}
}

/** Certificate, doors, the admin's token and the kubeconfig; the authority, PEM. */
async function serveAtDoors({vault, tokens}: TermParts, {context, stores, identity}: TermOptions): Promise<string> {
	const certificate = await ensureCertificates({cluster: vault, own: await identity.ownVault()}, identity.request());
	await identity.openDoors(certificate);
	const {token, made} = await ensureAdminToken(tokens, context.home.adminToken, stores.shared ? vault : undefined);
	if (made !== undefined) context.log.info(`a token for admin was made: ${made}`);
	await identity.publishKubeconfig(certificate.ca, token);
	return certificate.ca;
}

type Around = Pick<ServedTerm, 'upstream' | 'mayAct'> & {
	readonly servers: () => readonly string[];
	readonly closeStore: () => Promise<void>;
};

const termOf = (parts: TermParts, {upstream, mayAct, servers, closeStore}: Around): ServedTerm => ({
	parts,
	upstream,
	mayAct,
	begin() {
		parts.begin();
		parts.tellServers(servers());
	},
	kill: () => void parts.drop().then(closeStore),
	stop: done => void parts.stop().then(closeStore).then(done),
});
