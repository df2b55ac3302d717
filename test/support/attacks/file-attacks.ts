import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import type { Attack } from "./attack.ts";

/** Reads and writes that nobody granted. */
export const fileAttacks: readonly Attack[] = [
  {
    name: "reads the passwords of the host",
    language: "bash",
    code: "for file in /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/* /proc/1/root/etc/shadow; do try cat $file; done",
  },
  {
    name: "reads the home",
    language: "bash",
    code: ({ home }) =>
      `try ls ${home}; try cat ${home}/data.txt; try ls ${homedir()}; try ls ~root; try ls /home /root`,
    // An ordinary user finds a home there that has only what firejail puts into each.
    firejail: {
      code: ({ home }) =>
        `try ls ${home}; try cat ${home}/data.txt; for place in ${homedir()} ~root /home /root; do
  [ -z "$(ls -A $place 2>/dev/null | grep -vxE "[.](bashrc|inputrc|profile)")" ] || escaped "$place" $(ls -A $place)
done`,
    },
  },
  {
    name: "reads the project",
    language: "bash",
    code: ({ project }) => `try ls ${project}; try cat ${project}/data.txt`,
  },
  {
    name: "reads another skill",
    language: "bash",
    code: ({ otherSkill }) => `try ls ${otherSkill}; try cat /skill/../*/data.txt; try ls /skill/../other-skill`,
  },
  {
    name: "reads the files that sandboxes are made of",
    language: "bash",
    code: `try ls /tmp/kitbag-work-*; try ls /run/calls/*; try ls /oldroot /newroot; for file in /proc/self/fd/*/..; do try ls $file/; done`,
    // Files keep their places there, so the way to those of the tool can be seen, but nothing beside it.
    firejail: {
      code: `try sh -c 'ls -d /tmp/kitbag-work-*/run-*/private'; try ls /run/calls/*; try ls /oldroot /newroot; for file in /proc/self/fd/*/..; do try ls $file/; done`,
    },
  },
  {
    name: "reads files of an earlier call",
    language: "bash",
    earlier:
      "echo left > /tmp/left; echo left > /dev/shm/left; mkdir -p ~/.cache && echo left > ~/.cache/left; echo ok",
    code: 'try ls /tmp/left /dev/shm/left ~/.cache; try grep -r left /tmp /dev/shm; [ -z "$(find /tmp /dev/shm -name left -o -name .cache)" ] || escaped left',
  },
  {
    name: "reads files of a call that runs",
    language: "bash",
    sibling: "echo left > /tmp/left; echo left > /dev/shm/left; echo ready; sleep 0.7",
    code: "try cat /tmp/left /dev/shm/left; for root in /proc/[0-9]*/root; do try cat $root/tmp/left $root/dev/shm/left; done",
  },
  {
    name: "reads what is above and beside a granted directory",
    language: "bash",
    code: ({ readable, writable }) =>
      `try cat ${readable}/../home/data.txt; try cat ${writable}/../project/data.txt; cd ${writable}; try cat ../home/data.txt
[ "$(cat ${readable}/data.txt)" = readable ] || escaped nothing can be read`,
  },
  { name: "follows a link that leads out", language: "bash", code: ({ readable }) => `try cat ${readable}/link` },
  {
    name: "makes links that lead out",
    language: "bash",
    code: ({ writable, home }) => `cd ${writable}
ln -sfn ${home} out; try cat out/data.txt; ln -sfn /proc/1/root root; try cat root/etc/shadow root${home}/data.txt
ln -sfn /proc/self/fd/0/.. fd; try ls fd/; rm -f out root fd`,
  },
  {
    name: "hard-links a file that it may only read",
    language: "bash",
    code: ({
      readable,
      writable,
    }) => `try ln ${readable}/data.txt ${writable}/hard; try ln /skill/run.sh ${writable}/skill
try ln -L /proc/self/exe ${writable}/shell; try ln ${readable}/data.txt /tmp/hard`,
  },
  {
    name: "opens files by their handles",
    language: "python",
    code: ({ readable }) => `
handle = ctypes.create_string_buffer(136)
ctypes.c_uint.from_buffer(handle).value = 128
kernel("name_to_handle_at", 303, -100, ${JSON.stringify(readable)}.encode(), handle, ctypes.create_string_buffer(8), 0)
kernel("open_by_handle_at", 304, 0, handle, 0)
root = ctypes.create_string_buffer(b"\\x08\\0\\0\\0\\x01\\0\\0\\0\\x02\\0\\0\\0\\0\\0\\0\\0", 136)
kernel("open_by_handle_at", 304, 0, root, 0)`,
  },
  {
    name: "reads the memory of the kernel",
    language: "bash",
    code: "for file in /proc/kcore /dev/mem /dev/kmem /dev/kmsg /proc/kmsg /proc/vmcore /sys/kernel/debug; do try head -c 1 $file; done; try dmesg",
  },
  {
    name: "makes devices",
    language: "python",
    code: ({ writable }) => `
for place in ("/tmp", "/dev/shm", ${JSON.stringify(writable)}):
    for kind, major, minor in ((0o060000, 8, 0), (0o060000, 254, 0), (0o020000, 1, 1), (0o020000, 1, 3)):
        attempt("mknod", os.mknod, f"{place}/device", kind | 0o666, os.makedev(major, minor))`,
  },
  {
    name: "writes outside of what was granted",
    language: "bash",
    code: ({ project, home, readable }) => `
for place in / /usr /usr/bin /usr/lib /etc /opt /opt/kitbag /skill /proc /proc/sys /sys /dev /run /var /run/calls ${project} ${home} ${readable}; do
  try touch $place/written; try mkdir $place/made; try ln -s x $place/linked
done`,
    harm: () => (existsSync("/usr/written") ? "a file was written to /usr" : undefined),
  },
  {
    name: "writes beside a granted folder",
    language: "bash",
    code: ({ root, project, writable }) => `
for place in ${root} ${project} ${root}/new; do try touch $place/written; try mkdir -p $place/made; try ln -s x $place/linked; done
try mv ${writable} ${root}/moved; try mv ${root} /tmp/moved; try rmdir ${root}; try chmod 777 ${root}
[ -d ${writable} ] && touch ${writable}/inside /tmp/private && rm ${writable}/inside || escaped nothing can be written`,
  },
  {
    name: "writes to a named pipe of a folder that it may only read",
    language: "python",
    code: ({ readablePipes }) => `
for path in ${JSON.stringify(readablePipes)}:
    for place in (path, "/proc/self/root" + path):
        for flags in (os.O_WRONLY, os.O_RDWR):
            attempt(place, lambda: os.write(os.open(place, flags | os.O_NONBLOCK), b"x"))`,
  },
  {
    name: "changes what it may only read",
    language: "bash",
    code: ({ readable }) => `cd ${readable}
try sh -c 'echo x > data.txt'; try sh -c 'echo x >> data.txt'; try chmod 777 data.txt; try rm -f data.txt; try mv data.txt other
try truncate -s 0 data.txt; try touch data.txt; try cp /skill/run.sh data.txt; exec 9< data.txt; try sh -c 'echo x > /proc/self/fd/9'`,
  },
  {
    name: "changes the skill and our programs",
    language: "bash",
    code: `for file in /skill/run.* /opt/kitbag/*/* /usr/bin/bash /opt/node /etc/passwd; do
  [ ! -e $file ] || { try sh -c "echo >> $file"; try chmod 777 $file; try rm -f $file; try mv $file $file.old; try ln -f /tmp/x $file; }
done`,
  },
  {
    name: "removes and renames granted places",
    language: "bash",
    code: ({ readable, writable }) =>
      `cd /; try rmdir ${writable}; try mv ${writable} ${writable}.old; try rm -r ${readable}; try mv -T /skill ${writable}`,
    harm: ({ writable }) => (lstatSync(writable).isDirectory() ? undefined : "the granted place was replaced"),
  },
  {
    name: "leaves a program with special rights behind",
    language: "bash",
    code: ({
      writable,
    }) => `cd ${writable}; cp /usr/bin/bash shell; try chmod u+s shell; try chmod g+s shell; try chmod 6755 shell
try install -m 4755 /usr/bin/bash shell2; try python3 -c 'import os; os.open("shell3", os.O_CREAT | os.O_WRONLY, 0o4755)'
try python3 -c 'import os; os.setxattr("shell", "security.capability", b"\\1\\0\\0\\2\\0\\0\\x20\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0")'; rm -f shell shell2 shell3`,
    harm: ({ writable }) =>
      readdirSync(writable).some((name) => (statSync(join(writable, name)).mode & 0o6000) !== 0)
        ? "a file has special rights"
        : undefined,
  },
  {
    name: "overwrites the program that runs",
    language: "python",
    code: `
for path in ("/proc/self/exe", "/proc/1/exe", "/proc/self/map_files"):
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
        attempt(path, os.open, path, flags)`,
  },
  {
    name: "writes to its own input",
    language: "bash",
    code: "(head -c 9000000 /dev/zero >> /proc/self/fd/0) 2>/dev/null; [ $(stat -Lc %s /proc/self/fd/0) -le 4194304 ] || escaped it is large",
  },
];
