// A file system of another host, as pods and PersistentVolumes name it.

import {about, flag, optional, record, text} from './parts.js';

export const nfs = () =>
	about(
		'A folder that another host exports by NFS, on nodes whose agent is root and has mount.nfs.',
		record({
			server: about('The name or address of that host.', text()),
			path: about('What it exports; absolute.', text()),
			readOnly: optional(about('Whether it is mounted so that nobody writes.', flag())),
		}),
	);
