// A server that does not lead: what it needs to answer at its doors is made by the leader, and read from the store.

import {limits} from '../../api/limits.js';
import {findCertificates} from '../../server/certificates.js';
import {copyAdminToken} from '../../server/tokens.js';
import {isForeignKey} from '../../server/vault.js';
import type {Clock} from '../../system/time/clock.js';
import type {Decision} from '../../system/time/decision.js';
import type {Face} from './face.js';
import type {Stage} from './serve.js';
import {readSharedVault} from './shared-vault.js';
import type {Stores} from './stores.js';

export type StandingBy = {
	readonly stage: Stage;
	readonly stores: Stores;
	readonly face: Face;
	readonly clock: Clock;
	/** Whether this server leads, stands by, or has failed to do either. */
	readonly decision: Decision;
};

/** Waits for a leader and opens the doors with its authority's certificate, unless this server is elected before. */
export async function standBy(options: StandingBy): Promise<void> {
	const {decision, clock, face, stage} = options;
	try {
		while (!decision.isSettled()) {
			if (face.otherLeader() !== undefined && (await openBehindLeader(options))) {
				stage.log.info(`this server stands by; ${face.otherLeader()?.api ?? 'another'} leads`);
				decision.resolve();
				return;
			}
			await new Promise<void>(resolve => void clock.after(limits.authorityPollMs, resolve));
		}
	} catch (error) {
		decision.reject(error);
	}
}

/** False: the store does not have yet what is needed, or cannot be read. */
async function openBehindLeader({stage, stores, face, decision}: StandingBy): Promise<boolean> {
	const cluster = await readSharedVault(stores, stage.home.clusterKey).catch((error: unknown) => {
		// A key that is not the cluster's does not become it by waiting.
		if (isForeignKey(error)) throw error;
		return undefined;
	});
	if (cluster === undefined || decision.isSettled()) return false;
	const certificate = await findCertificates({cluster, own: await face.ownVault()}, face.request());
	if (certificate === undefined || decision.isSettled()) return false;
	await face.openDoors(certificate);
	const token = await copyAdminToken(cluster, stage.home.adminToken);
	if (token !== undefined) await face.introduce(certificate.ca, token);
	return true;
}
