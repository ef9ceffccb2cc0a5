module drjosh.dev/zzglob

go 1.21
