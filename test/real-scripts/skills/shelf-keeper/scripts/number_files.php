#!/usr/bin/env php
<?php
// Put numbers in front of the names of a folder's files.
// Usage: number_files.php <folder>
if ($argc < 2) {
    fwrite(STDERR, "Usage: number_files.php <folder>\n");
    exit(1);
}
$folder = rtrim($argv[1], "/");
$names = array_values(array_filter(scandir($folder), fn($name) => is_file("$folder/$name")));
foreach ($names as $index => $name) {
    $next = sprintf("%02d-%s", $index + 1, $name);
    rename("$folder/$name", "$folder/$next");
    echo "$name -> $next\n";
}
