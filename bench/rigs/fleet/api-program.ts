// Asks the API of a cluster in whose network this process is. A part (bench/rigs/remote.ts).

import {clientOf, type Request} from '../../../cli/client.js';
import {homeOf} from '../../../cli/files/home.js';
import {readConnection} from '../../../cli/cluster/kubeconfig.js';
import {serve} from '../remote.js';

export type ApiRequest = Request & {readonly home: string};

const part = {
	/** By a connection of its own each time: the server may be another one by then. */
	async request({home, ...call}: ApiRequest): Promise<unknown> {
		const client = clientOf(await readConnection({flag: undefined, fromEnvironment: undefined, ofHome: homeOf(home).kubeconfig}));
		try {
			return await client.json(call);
		} finally {
			client.close();
		}
	},
};

export type ApiPart = typeof part;

serve(part);
