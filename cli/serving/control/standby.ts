// A server that does not lead: what it needs to answer at its doors is made by the leader, and read from the store. Taking over is not here:
// system/leadership/leadership.ts has it elected, then term.ts opens its term.

import {limits} from '../../../api/limits.js';
import {findCertificates} from '../../../server/certificates.js';
import {copyAdminToken} from '../../../server/tokens.js';
import {isForeignKey} from '../../../server/vault.js';
import type {Deferred} from '../../../system/time/deferred.js';
import type {ServeContext} from '../process/serve.js';
import type {ServerIdentity} from './server-identity.js';
import {readSharedVault} from './shared-vault.js';
import type {Stores} from './stores.js';

export type StandbyOptions = {
	readonly context: ServeContext;
	readonly stores: Stores;
	readonly identity: ServerIdentity;
	/** Settled once this server leads, stands by, or has failed to do either. */
	readonly decision: Deferred;
};

/** Waits for a leader and opens the doors with its authority's certificate, unless this server is elected before. */
export async function standBy(options: StandbyOptions): Promise<void> {
	const {decision, identity, context} = options;
	try {
		while (!decision.isSettled()) {
			if (identity.otherLeader() !== undefined && (await openAsStandby(options))) {
				context.log.info(`this server stands by; ${identity.otherLeader()?.api ?? 'another'} leads`);
				decision.resolve();
				return;
			}
			await new Promise<void>(resolve => void context.processParts.clock.after(limits.authorityPollMs, resolve));
		}
	} catch (error) {
		decision.reject(error);
	}
}

/** False: the store does not have yet what is needed, or cannot be read. */
async function openAsStandby({context, stores, identity, decision}: StandbyOptions): Promise<boolean> {
	const cluster = await readSharedVault(stores, context.home.clusterKey).catch((error: unknown) => {
		// A key that is not the cluster's does not become it by waiting.
		if (isForeignKey(error)) throw error;
		return undefined;
	});
	if (cluster === undefined || decision.isSettled()) return false;
	const certificate = await findCertificates({cluster, own: await identity.ownVault()}, identity.request());
	if (certificate === undefined || decision.isSettled()) return false;
	await identity.openDoors(certificate);
	const token = await copyAdminToken(cluster, context.home.adminToken);
	if (token !== undefined) await identity.publishKubeconfig(certificate.ca, token);
	return true;
}
