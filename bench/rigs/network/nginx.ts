// nginx on a port of 127.0.0.1, with one worker: a backend that costs little, or a reverse proxy before one.

import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Owner} from '../owner.js';
import {childrenOf} from '../servers/programs-of.js';
import {folder as folderOf, freePort, isOpen, until} from '../servers/server.js';

export type Nginx = {
	readonly port: number;
	/** Of the worker. */
	readonly pid: number;
};

/** What is answered by a backend; of the size of a small answer of an API. */
const answer = 'x'.repeat(128);

export const answering = `location / { return 200 ${answer}; }`;

/** As usual for many requests: connections are kept, the access log is written. */
export const proxyTo = (port: number): string => `
	location / {
		proxy_pass http://backend;
		proxy_http_version 1.1;
		proxy_set_header Connection "";
		proxy_set_header Host $http_host;
		proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
		proxy_set_header X-Forwarded-Proto $scheme;
		proxy_set_header X-Forwarded-Host $http_host;
		proxy_set_header X-Real-IP $remote_addr;
	}
}
upstream backend {
	server 127.0.0.1:${port};
	keepalive 64;
	keepalive_requests 1000000000;
`;

/** With these words in its `server`. Ends with its owner. */
export async function startNginx(owner: Owner, program: string, words: string, log: 'logged' | 'unlogged'): Promise<Nginx> {
	const folder = folderOf(owner, 'nginx');
	const port = await freePort();
	const file = path.join(folder, 'nginx.conf');
	writeFileSync(file, configurationOf(folder, `127.0.0.1:${port}`, words, log));
	const child = spawn(program, ['-c', file, '-p', folder, '-e', path.join(folder, 'error.log')], {stdio: ['ignore', 'ignore', 'inherit']});
	// Its worker ends with it by SIGTERM alone.
	owner.teardown(async () => {
		child.kill('SIGTERM');
		await until('nginx has ended', () => child.exitCode !== null || child.signalCode !== null);
	});
	await until('nginx answers', () => {
		if (child.exitCode !== null) throw new Error(`nginx ended with code ${child.exitCode}`);
		return isOpen(port);
	});
	const [pid] = childrenOf(child.pid ?? 0);
	if (pid === undefined) throw new Error('nginx has no worker');
	return {port, pid};
}

/** All that it writes is in the folder. */
export const configurationOf = (folder: string, place: string, words: string, log: 'logged' | 'unlogged'): string => `
daemon off;
user root;
worker_processes 1;
pid ${folder}/pid;
events { worker_connections 4096; }
http {
	access_log ${log === 'logged' ? `${folder}/access.log combined` : 'off'};
	client_body_temp_path ${folder}/body;
	proxy_temp_path ${folder}/proxy;
	fastcgi_temp_path ${folder}/fastcgi;
	uwsgi_temp_path ${folder}/uwsgi;
	scgi_temp_path ${folder}/scgi;
	keepalive_requests 1000000000;
	server {
		listen ${place} backlog=4096;
		${words}
	}
}
`;
