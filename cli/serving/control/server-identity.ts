// What a server shows of itself, whether it leads or not: its doors with their certificate, and the kubeconfig of its home.

import type {Certificate} from '../../../server/gateway.js';
import type {CertificateRequest} from '../../../server/certificates.js';
import {keptInFile} from '../../../server/file-kept.js';
import {writeKubeconfig} from '../../../server/kubeconfig.js';
import {openVault, type Vault} from '../../../server/vault.js';
import type {Election, ServerInfo} from '../../../system/leadership/election.js';
import {certificateNames} from './addresses.js';
import {openOthers, type ApiDoor, type DoorParts, type OpenedDoors, type OtherDoors} from './doors.js';

export type ServerIdentity = {
	readonly self: ServerInfo;
	/** Where this server's own certificate is kept. Asked only where the cluster's key is known to be the right one. */
	readonly ownVault: () => Promise<Vault>;
	/** For a certificate with all names that this server is reached by. */
	readonly request: () => CertificateRequest;
	/** Opens the other doors, the first time; from now on handshakes show this certificate. */
	readonly openDoors: (certificate: Certificate) => Promise<OtherDoors>;
	/** Writes the kubeconfig: kubectl asks the leader, `troupe` the first server that answers. */
	readonly publishKubeconfig: (ca: string, token: string) => Promise<void>;
	/** The same again, since who leads or which servers there are has changed. */
	readonly refreshKubeconfig: () => Promise<void>;
	/** `https://host:port` of every server there is. */
	readonly servers: () => readonly string[];
	/** The server that leads, if it is another one. */
	readonly otherLeader: () => ServerInfo | undefined;
};

export function serverIdentityOf(election: Election, self: ServerInfo, doors: DoorParts, api: ApiDoor): ServerIdentity {
	const {
		options,
		context: {home, processParts},
	} = doors;
	let others: Promise<OpenedDoors> | undefined;
	let published: {readonly ca: string; readonly token: string} | undefined;
	const otherLeader = (): ServerInfo | undefined => otherThan(self, election.leader());
	const servers = (): readonly string[] => [...new Set([...election.servers().map(server => server.api), self.api])];
	const publishKubeconfig = async (ca: string, token: string): Promise<void> => {
		published = {ca, token};
		await writeKubeconfig(home.root, {server: otherLeader()?.api ?? self.api, servers: servers(), ca, user: 'admin', token});
	};
	return {
		self,
		ownVault: () => openVault(home.clusterKey, keptInFile(home.serverCertificate)),
		request: () => ({
			names: certificateNames([options.api.host, options.web.host, options.mqtt.host], options.advertise),
			nowMs: processParts.clock.nowMs(),
		}),
		async openDoors(certificate) {
			api.gateway.useCertificate(certificate);
			others ??= openOthers(doors, api, certificate);
			const {places, useCertificate} = await others;
			useCertificate(certificate);
			return places;
		},
		publishKubeconfig,
		refreshKubeconfig: async () => published && publishKubeconfig(published.ca, published.token),
		servers,
		otherLeader,
	};
}

const otherThan = (self: ServerInfo, leader: ServerInfo | undefined): ServerInfo | undefined =>
	leader?.id === self.id ? undefined : leader;
